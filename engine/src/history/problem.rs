//! What can be wrong with a history: a published, closed list.

use serde::Serialize;

/// One thing that was found and mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HistoryProblem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The message it is in, counted from 0 in the list that was given.
    pub message: usize,
    /// The call's id as it was given, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// A sentence that says what was found and how it was mended.
    pub detail: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// A call has no result; one that says so was put in.
    UnansweredCall,
    /// A result answers no call before it; it was dropped.
    OrphanResult,
    /// Two calls have the same id; the later one and its result were renamed.
    RepeatedCallId,
    /// A call has more than one result; one was kept.
    RepeatedResult,
    /// A call or a result has no id; it was given one.
    MissingId,
    /// Something stands between a call and its result; the result was moved.
    NotAdjacent,
    /// Results are not in call order, or not in front of what else their message holds; they were put in order.
    WrongOrder,
    /// The results of one reply are spread over several messages; they were put into one.
    SplitResults,
    /// The vendor would not take the id; call and result got a legal one.
    IllegalId,
    /// The vendor would not take the tool's name; it got a legal one.
    IllegalName,
    /// A result names another tool than its call, or none where the vendor wants one; it was given the call's.
    NameDiffers,
    /// The arguments of a call are no JSON object; they were made one.
    InvalidArguments,
    /// A result is empty; it was given a text that says so.
    EmptyResult,
    /// A result is no object where the vendor wants one; it was put into one.
    InvalidResult,
    /// A message has an escape for half of a surrogate pair, which strict parsers refuse; `U+FFFD` stands in its place.
    HalfCharacter,
}

/// Collects problems.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<HistoryProblem>);

// === impl ProblemKind ===

impl ProblemKind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::UnansweredCall,
        Self::OrphanResult,
        Self::RepeatedCallId,
        Self::RepeatedResult,
        Self::MissingId,
        Self::NotAdjacent,
        Self::WrongOrder,
        Self::SplitResults,
        Self::IllegalId,
        Self::IllegalName,
        Self::NameDiffers,
        Self::InvalidArguments,
        Self::EmptyResult,
        Self::InvalidResult,
        Self::HalfCharacter,
    ];
}

// === impl Problems ===

impl Problems {
    pub(super) fn add(&mut self, kind: ProblemKind, message: usize, call_id: Option<&str>, detail: impl Into<String>) {
        let call_id = call_id.map(str::to_owned);
        self.0.push(HistoryProblem { kind, message, call_id, detail: detail.into() });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn sorted(mut self) -> Vec<HistoryProblem> {
        self.0.sort_by_key(|problem| problem.message);
        self.0
    }
}

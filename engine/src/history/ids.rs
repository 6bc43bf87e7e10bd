//! The id of each call in the repaired history.

use std::collections::{HashMap, HashSet};

use ahash::RandomState;

use super::conversation::{Call, Conversation};
use super::edits::Edits;
use super::pairs::Pairs;
use super::problem::{ProblemKind, Problems};
use crate::dialect::IdRule;

/// Gives out ids in call order. An id depends on the calls before it alone, so that a history that grows keeps them.
struct Ids {
    rule: IdRule,
    taken: HashSet<String, RandomState>,
    /// The number that a further call of the same id gets.
    next: HashMap<String, usize, RandomState>,
}

/// The id of each call, where it has one; written to calls and results where it differs.
pub(super) fn settle<'a>(
    conversation: &Conversation<'a>,
    pairs: &Pairs,
    rule: IdRule,
    edits: &mut Edits<'a>,
    problems: &mut Problems,
) -> Vec<Option<String>> {
    let mut ids = Ids { rule, taken: HashSet::default(), next: HashMap::default() };
    let mut settled = Vec::with_capacity(conversation.calls.len());
    for (number, call) in conversation.calls.iter().enumerate() {
        let answer = pairs.answer(number).and_then(|answer| conversation.answers.get(answer));
        let answer_id = answer.and_then(|answer| answer.parts.id_text());
        let id = ids.settle(conversation, number, call, answer_id, problems);
        settled.push(id);
    }
    write(conversation, pairs, &settled, edits, problems);
    settled
}

fn write<'a>(
    conversation: &Conversation<'a>,
    pairs: &Pairs,
    settled: &[Option<String>],
    edits: &mut Edits<'a>,
    problems: &mut Problems,
) {
    for (number, (call, id)) in conversation.calls.iter().zip(settled).enumerate() {
        let Some(id) = id else { continue };
        if !call.parts.given.as_ref().is_some_and(|given| given.is_string && given.value == *id) {
            edits.set_string(call.parts.id, id);
        }
        let Some(answer) = pairs.answer(number).and_then(|answer| conversation.answers.get(answer)) else { continue };
        match &answer.parts.given {
            Some(given) if given.is_string && given.value == *id => {}
            Some(given) => {
                if !given.is_string {
                    let detail = "the result's id is no readable text; it was given its call's";
                    problems.add(ProblemKind::IllegalId, answer.message, Some(&given.value), detail);
                }
                edits.set_string(answer.parts.id, id);
            }
            None if conversation.form.needs_ids() => {
                let detail = "the result has no call id; it was given its call's";
                problems.add(ProblemKind::MissingId, answer.message, None, detail);
                edits.set_string(answer.parts.id, id);
            }
            None => {}
        }
    }
}

// === impl Ids ===

impl Ids {
    fn settle(
        &mut self,
        conversation: &Conversation<'_>,
        number: usize,
        call: &Call<'_>,
        answer_id: Option<&str>,
        problems: &mut Problems,
    ) -> Option<String> {
        let Some(given) = &call.parts.given else {
            if call.parts.is_legacy || (answer_id.is_none() && !conversation.form.needs_ids()) {
                return None;
            }
            problems.add(ProblemKind::MissingId, call.message, None, "the call has no id; it was given one");
            let place = number.saturating_sub(conversation.messages.get(call.message).map_or(0, |m| m.calls.start));
            let made = answer_id.map_or_else(|| format!("call_{}_{place}", call.message), str::to_owned);
            return Some(self.unique(&made));
        };
        let id = Some(given.value.as_str());
        let legal = self.rule.apply(&given.value);
        if !given.is_string || *legal != *given.value {
            let detail = format!("the id does not fit the rule `{}`; call and result got `{legal}`", self.rule);
            problems.add(ProblemKind::IllegalId, call.message, id, detail);
        }
        let unique = self.unique(&given.value);
        if *unique != *legal {
            let detail = format!("another call has this id; this one and its result were renamed to `{unique}`");
            problems.add(ProblemKind::RepeatedCallId, call.message, id, detail);
        }
        Some(unique)
    }

    /// The legal form of `id`, or of `id` with a number when it is taken.
    fn unique(&mut self, id: &str) -> String {
        let legal = self.rule.apply(id).into_owned();
        if self.taken.insert(legal.clone()) {
            return legal;
        }
        let next = self.next.entry(id.to_owned()).or_insert(2);
        loop {
            let numbered = self.rule.apply(&format!("{id}_{next}")).into_owned();
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

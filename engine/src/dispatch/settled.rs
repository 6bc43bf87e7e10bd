//! Settled: the end of one call, before it becomes a result of its batch.

use std::sync::Arc;

use super::{Moment, RunningBatch, Track};
use crate::approval::ApprovalNotice;
use crate::isolate;
use crate::json::JsonText;
use crate::metrics::FailureKind;
use crate::registry::PreparedTool;
use crate::result::{
    CallError, CallResult, CallStatus, ErrorCode, Executed, Sent, Shortened, TextLimit, ToolExecutionResult,
    ToolFailure, shorten, truncate_middle,
};
use crate::schema::OutputFault;
use crate::text;

/// The end of one call.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(super) status: CallStatus,
    /// Boxed, like the error: both are moved from hand to hand and opened by none of them.
    pub(super) result: Box<ToolExecutionResult>,
    pub(super) error: Option<Box<CallError>>,
    pub(super) executed: Executed,
    pub(super) failure: Option<FailureKind>,
    pub(super) truncated: bool,
    pub(super) notes: Option<Box<Notes>>,
    /// When the tool's body was entered, if the call was seen to get that far.
    pub(super) entered: Option<Moment>,
    pub(super) ended: Moment,
}

/// What a tool's body gave back.
pub(super) type Returned = Result<Box<ToolExecutionResult>, ToolFailure>;

/// What few results have.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Where the whole of a result that was cut is kept.
    pub(super) reference: Option<Arc<str>>,
    pub(super) warnings: Vec<String>,
    /// What a person has to agree to first.
    pub(super) approval: Option<Box<ApprovalNotice>>,
    /// The middleware that answered in the tool's place.
    pub(super) answered_by: Option<Arc<str>>,
    /// The arguments that a middleware gave the tool.
    pub(super) arguments: Option<JsonText>,
}

// === impl Settled ===

impl Settled {
    /// A call that ended without a result of its tool.
    pub(super) fn error(error: impl Into<Box<CallError>>, executed: Executed, ended: Moment) -> Self {
        let error = error.into();
        Self {
            status: error.code.status(),
            result: Box::new(ToolExecutionResult::failure(error.message.clone())),
            error: Some(error),
            executed,
            failure: None,
            truncated: false,
            notes: None,
            entered: None,
            ended,
        }
    }

    /// The call at `place` of the batch, whose tool gave something back.
    #[inline]
    pub(super) fn returned(
        returned: Returned,
        entered: Moment,
        ended: Moment,
        batch: &RunningBatch,
        place: usize,
    ) -> Self {
        let settled = match returned {
            Ok(result) => Self::ran(result, ended, batch, place),
            Err(failure) => Self::broke(failure, ended, batch),
        };
        Self { entered: Some(entered), ..settled }
    }

    /// A call that waited for a person, whose approved run gave this, or which did not run.
    pub(super) fn of_approved(result: &CallResult, ended: Moment) -> Self {
        let CallResult { status, error, executed, truncated, reference, answered_by, warnings, .. } = result.clone();
        let notes = Some(Box::new(Notes { reference, warnings, answered_by, ..Notes::default() }));
        let result = result.result.clone();
        Self { status, result, error, executed, failure: None, truncated, notes, entered: None, ended }
    }

    /// Notes what a person has to agree to before the call runs.
    pub(super) fn note_approval(&mut self, notice: ApprovalNotice) {
        self.notes.get_or_insert_default().approval = Some(Box::new(notice));
    }

    /// What a person has to agree to first, if so.
    pub(super) fn approval(&self) -> Option<&ApprovalNotice> {
        self.notes.as_ref()?.approval.as_deref()
    }

    /// The call at `place` of the batch, of which middleware gave something back.
    pub(super) fn through(
        returned: Returned,
        track: &Track,
        ended: Moment,
        batch: &RunningBatch,
        place: usize,
    ) -> Self {
        let mut settled = match returned {
            Ok(result) => Self::ran(result, ended, batch, place),
            Err(failure) => Self::broke(failure, ended, batch),
        };
        settled.entered = track.entered();
        settled.executed = track.executed();
        if settled.entered.is_none() {
            settled.failure = None;
        }
        let (answered_by, arguments) = track.take_notes();
        if answered_by.is_some() || arguments.is_some() {
            let notes = settled.notes.take().unwrap_or_default();
            settled.notes = Some(Box::new(Notes { answered_by, arguments, ..*notes }));
        }
        settled
    }

    pub(super) fn panicked(error: CallError, entered: Moment, ended: Moment) -> Self {
        Self {
            failure: Some(FailureKind::Panic),
            entered: Some(entered),
            ..Self::error(error, Executed::Unknown, ended)
        }
    }

    /// A call that ended before its tool's answer: by deadline, cancellation, or the end of its provider.
    pub(super) fn given_up(error: CallError, was_entered: bool, ended: Moment) -> Self {
        let executed = if was_entered { Executed::Unknown } else { Executed::No };
        let crashed = error.code == ErrorCode::ProviderCrashed;
        let failure = (was_entered && crashed).then_some(FailureKind::Crash);
        Self { failure, ..Self::error(error, executed, ended) }
    }

    #[inline]
    fn ran(result: Box<ToolExecutionResult>, ended: Moment, batch: &RunningBatch, place: usize) -> Self {
        let limits = &batch.engine.limits;
        let most_chars = batch.tool(place).max_result_chars;
        let limit = TextLimit::new(most_chars, limits.max_result_text_bytes.min(limits.max_result_bytes));
        if result.is_short_text(limit) {
            return Self::succeeded(result, false, None, ended);
        }
        Self::looked_into(result, ended, batch, place)
    }

    #[inline]
    fn succeeded(result: Box<ToolExecutionResult>, truncated: bool, notes: Option<Box<Notes>>, ended: Moment) -> Self {
        Self {
            status: CallStatus::Ok,
            result,
            error: None,
            executed: Executed::Yes,
            failure: None,
            truncated,
            notes,
            entered: None,
            ended,
        }
    }

    /// A result that is more than a short text.
    fn looked_into(mut result: Box<ToolExecutionResult>, ended: Moment, batch: &RunningBatch, place: usize) -> Self {
        let limit = batch.engine.limits.max_result_bytes;
        let size = result.size();
        if size > limit {
            return Self::unusable(format!("the tool's result has {size} bytes; at most {limit} are allowed"), ended);
        }
        if let Err(reason) = result.make_readable() {
            return Self::unusable(format!("the tool ran, but its result cannot be used: {reason}"), ended);
        }
        result.lift_media();
        let tool = batch.tool(place);
        let warnings = match check_output(&result, tool) {
            Ok(()) => Vec::new(),
            Err(OutputFault::Mismatch(reason)) if tool.strict_output => {
                return Self::unusable(format!("the tool ran, but its result cannot be used: {reason}"), ended);
            }
            Err(fault) => vec![fault.reason()],
        };
        let Shortened { truncated, reference } = shorten_result(&mut result, batch, place);
        let has_notes = reference.is_some() || !warnings.is_empty();
        let notes = has_notes.then(|| Box::new(Notes { reference, warnings, ..Notes::default() }));
        if result.success {
            return Self::succeeded(result, truncated, notes, ended);
        }
        result.effects.stop_after_execution = false;
        let message = match &result.error_message {
            Some(message) if !message.trim().is_empty() => message.clone(),
            _ if result.content.trim().is_empty() => "the tool failed without saying why".to_owned(),
            _ => result.content.clone(),
        };
        result.error_message = Some(message.clone());
        Self {
            result,
            truncated,
            notes,
            failure: Some(FailureKind::Reported),
            ..Self::error(CallError::new(ErrorCode::ToolFailed, message), Executed::Yes, ended)
        }
    }

    /// A call that ran to its end and gave back what cannot be a result.
    fn unusable(message: String, ended: Moment) -> Self {
        let error = CallError::new(ErrorCode::ToolResultInvalid, message);
        Self { failure: Some(FailureKind::Exception), ..Self::error(error, Executed::Yes, ended) }
    }

    fn broke(failure: ToolFailure, ended: Moment, batch: &RunningBatch) -> Self {
        let executed = executed_of(&failure);
        let kind = match failure.code {
            ErrorCode::ProviderCrashed | ErrorCode::ProviderDown => FailureKind::Crash,
            ErrorCode::ToolPanicked => FailureKind::Panic,
            _ => FailureKind::Exception,
        };
        let limits = &batch.engine.limits;
        let limit = TextLimit::new(limits.max_result_chars, limits.max_result_text_bytes);
        let shorter = if limit.is_certainly_kept_by(&failure.message) {
            None
        } else {
            let notice = text::left_out(batch.context.locale, &failure.message, None);
            truncate_middle(&failure.message, limit, &notice)
        };
        let truncated = shorter.is_some();
        let error = CallError::new(failure.code, shorter.map_or(failure.message, Into::into));
        Self { failure: Some(kind), truncated, ..Self::error(error, executed, ended) }
    }
}

/// How far a call came whose provider broke.
pub(super) fn executed_of(failure: &ToolFailure) -> Executed {
    match (failure.code, failure.sent) {
        (_, Sent::No) => Executed::No,
        // There was a result, so the tool has come to its end.
        (ErrorCode::ToolResultInvalid, _) => Executed::Yes,
        (_, Sent::Maybe | Sent::Yes) => Executed::Unknown,
    }
}

/// Only structured content of successes is checked: a tool that failed has promised nothing, and `null` is no content.
fn check_output(result: &ToolExecutionResult, tool: &PreparedTool) -> Result<(), OutputFault> {
    let (Some(schema), Some(structured), true) = (&tool.output, &result.structured_content, result.success) else {
        return Ok(());
    };
    if structured.as_str() == "null" {
        return Ok(());
    }
    let lifted: Vec<&str> = result.content_items.iter().filter_map(|item| item.pointer.as_deref()).collect();
    isolate::catch(|| schema.check(structured, &lifted))
        .unwrap_or_else(|_panic| Err(OutputFault::Unchecked("structured content could not be checked".to_owned())))
}

fn shorten_result(result: &mut ToolExecutionResult, batch: &RunningBatch, place: usize) -> Shortened {
    let limit = TextLimit::new(batch.tool(place).max_result_chars, batch.engine.limits.max_result_text_bytes);
    let call_id = batch.call(place).call_id.as_str();
    let notice = |whole: &str, reference: Option<&str>| text::left_out(batch.context.locale, whole, reference);
    shorten(result, call_id, limit, |whole| batch.engine.kept.keep(whole), notice)
}

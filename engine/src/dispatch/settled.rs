//! Settled: the end of one call, before it becomes a result of its batch.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::Limits;
use crate::metrics::FailureKind;
use crate::provider::InvokeResult;
use crate::result::{
    CallError, CallStatus, ErrorCode, Executed, Sent, ToolExecutionResult, ToolFailure, truncate_middle,
};

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
    /// When the tool's body was entered, if the call was seen to get that far.
    pub(super) entered: Option<Instant>,
    pub(super) ended: Instant,
}

// === impl Settled ===

impl Settled {
    /// A call that ended without a result of its tool.
    pub(super) fn error(error: CallError, executed: Executed, ended: Instant) -> Self {
        Self {
            status: error.code.status(),
            result: Box::new(ToolExecutionResult::failure(error.message.clone())),
            error: Some(Box::new(error)),
            executed,
            failure: None,
            truncated: false,
            entered: None,
            ended,
        }
    }

    /// A call whose tool gave something back.
    pub(super) fn returned(returned: InvokeResult, entered: Instant, ended: Instant, limits: &Limits) -> Self {
        let settled = match returned {
            Ok(result) => Self::ran(Box::new(result), ended, limits),
            Err(failure) => Self::broke(failure, ended, limits),
        };
        Self { entered: Some(entered), ..settled }
    }

    pub(super) fn panicked(error: CallError, entered: Instant, ended: Instant) -> Self {
        Self {
            failure: Some(FailureKind::Panic),
            entered: Some(entered),
            ..Self::error(error, Executed::Unknown, ended)
        }
    }

    /// A call that ended before its tool's answer: by deadline, cancellation, or the end of its provider.
    pub(super) fn given_up(error: CallError, was_entered: bool, ended: Instant) -> Self {
        let executed = if was_entered { Executed::Unknown } else { Executed::No };
        let crashed = error.code == ErrorCode::ProviderCrashed;
        let failure = (was_entered && crashed).then_some(FailureKind::Crash);
        Self { failure, ..Self::error(error, executed, ended) }
    }

    /// From entering the tool's body to its end.
    pub(super) fn time_in_body(&self) -> Duration {
        self.entered.map_or(Duration::ZERO, |entered| self.ended.duration_since(entered))
    }

    fn ran(mut result: Box<ToolExecutionResult>, ended: Instant, limits: &Limits) -> Self {
        if result.size() > limits.max_result_bytes {
            let message = format!(
                "the tool's result has {} bytes; at most {} are allowed",
                result.size(),
                limits.max_result_bytes
            );
            let error = CallError::new(ErrorCode::ToolResultInvalid, message);
            return Self { failure: Some(FailureKind::Exception), ..Self::error(error, Executed::Yes, ended) };
        }
        let truncated = shorten(&mut result, limits.max_result_text_bytes);
        if result.success {
            return Self {
                status: CallStatus::Ok,
                result,
                error: None,
                executed: Executed::Yes,
                failure: None,
                truncated,
                entered: None,
                ended,
            };
        }
        result.effects.stop_after_execution = false;
        let message = match &result.error_message {
            Some(message) => message.clone(),
            None if result.content.is_empty() => "the tool failed without saying why".to_owned(),
            None => result.content.clone(),
        };
        Self {
            result,
            truncated,
            failure: Some(FailureKind::Reported),
            ..Self::error(CallError::new(ErrorCode::ToolFailed, message), Executed::Yes, ended)
        }
    }

    fn broke(failure: ToolFailure, ended: Instant, limits: &Limits) -> Self {
        let executed = match failure.sent {
            Sent::No => Executed::No,
            Sent::Maybe | Sent::Yes => Executed::Unknown,
        };
        let kind = match failure.code {
            ErrorCode::ProviderCrashed | ErrorCode::ProviderDown => FailureKind::Crash,
            _ => FailureKind::Exception,
        };
        let shorter = truncate_middle(&failure.message, limits.max_result_text_bytes);
        let truncated = shorter.is_some();
        let error = CallError::new(failure.code, shorter.map_or(failure.message, Into::into));
        Self { failure: Some(kind), truncated, ..Self::error(error, executed, ended) }
    }
}

/// Cuts what would stand in the history to `limit` bytes. Structured content without a text is cut as text, since half
/// a JSON document is none.
fn shorten(result: &mut ToolExecutionResult, limit: usize) -> bool {
    let mut cut = false;
    if let Some(shorter) = truncate_middle(&result.content, limit) {
        result.content = shorter;
        cut = true;
    }
    if let Some(shorter) = result.error_message.as_deref().and_then(|message| truncate_middle(message, limit)) {
        result.error_message = Some(shorter);
        cut = true;
    }
    if let Some(shorter) = result.structured_content.as_ref().and_then(|json| truncate_middle(json.as_str(), limit)) {
        if result.content.is_empty() {
            result.content = shorter;
        }
        result.structured_content = None;
        cut = true;
    }
    for item in &mut result.content_items {
        if let Some(shorter) = item.text.as_deref().and_then(|text| truncate_middle(text, limit)) {
            item.text = Some(shorter);
            cut = true;
        }
    }
    cut
}

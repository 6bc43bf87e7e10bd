//! Failures of one request: they say nothing of the server's others, and count for no breaker.

use toolyard::{ErrorCode, Sent, ToolFailure};

/// There was an answer, so the tool has come to its end; it cannot be used.
pub(super) fn unusable(message: impl Into<String>) -> ToolFailure {
    let mut failure = ToolFailure::new(ErrorCode::ToolResultInvalid, message.into());
    failure.sent = Sent::Yes;
    failure
}

/// What came is no answer: how far the tool got, nobody knows.
pub(super) fn unanswered(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(ErrorCode::ToolFailed, message.into())
}

/// The answer is over the limit of `max` bytes.
pub(super) fn too_large(max: usize) -> ToolFailure {
    unusable(format!("the server's answer is larger than {max} bytes, the limit (`max_message_bytes`)"))
}

//! Why a call has no success: a stable code, a sentence, and the place.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::CallStatus;

/// Why a call did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallError {
    /// Stable code, for programs.
    pub code: ErrorCode,
    /// A sentence that a model or a person can act on. Never holds argument values or secrets.
    pub message: Cow<'static, str>,
    /// JSON pointer of the place in the arguments, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// After what time the same call may go well, where that is known.
    #[serde(rename = "retry_after_ms", skip_serializing_if = "Option::is_none", serialize_with = "as_millis")]
    pub retry_after: Option<Duration>,
}

/// A provider that broke, as against a tool that ran and failed.
///
/// A tool's own failure is a [`crate::ToolExecutionResult`] with `success = false`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ToolFailure {
    /// Stable code; decides the status of the call.
    pub code: ErrorCode,
    /// A sentence for people.
    pub message: Cow<'static, str>,
    /// Whether the tool may have started; decides about retries and "outcome unknown".
    pub sent: Sent,
}

/// Whether a call reached its tool before the provider broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Certainly not.
    No,
    /// Nobody knows.
    Maybe,
    /// Certainly.
    Yes,
}

/// Stable error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The arguments are not JSON.
    ArgumentsSyntax,
    /// The arguments are JSON, but no object.
    ArgumentsNotObject,
    /// The arguments do not fit the tool's schema.
    ArgumentsSchema,
    /// An object in the arguments has a key twice.
    ArgumentsDuplicateKey,
    /// The arguments are over the size limit.
    ArgumentsTooLarge,
    /// The arguments are nested too deep.
    ArgumentsTooDeep,
    /// The arguments were cut off.
    ArgumentsTruncated,
    /// No tool has this name.
    ToolUnknown,
    /// A tool had this name until its provider removed it.
    ToolRemoved,
    /// The tool ran and failed.
    ToolFailed,
    /// The tool panicked.
    ToolPanicked,
    /// The tool's result cannot be used.
    ToolResultInvalid,
    /// The tool cannot be used in this chat or at this moment.
    ToolUnavailable,
    /// The provider is still starting.
    ProviderStarting,
    /// The provider is down or disabled.
    ProviderDown,
    /// The provider went away during the call.
    ProviderCrashed,
    /// The provider failed too often and is left alone for a while.
    ProviderBreakerOpen,
    /// The provider answered with something that is not its protocol.
    ProviderProtocol,
    /// A middleware of the host panicked, or took too long.
    MiddlewareFailed,
    /// The batch has more calls than allowed.
    LimitBatch,
    /// Too many calls are in flight.
    LimitInFlight,
    /// A rate limit is reached.
    LimitRate,
    /// A quota is used up.
    LimitQuota,
    /// The deadline passed.
    DeadlineExceeded,
    /// This call was cancelled.
    CancelledCall,
    /// The batch was cancelled.
    CancelledBatch,
    /// The session was cancelled.
    CancelledSession,
    /// Toolyard is shutting down.
    CancelledShutdown,
    /// Policy forbids the call.
    PolicyDenied,
    /// The tool is hidden from the model.
    PolicyHidden,
    /// Only a person may start the tool.
    PolicyUserOnly,
    /// The model has to find the tool first.
    PolicyNotLoaded,
    /// The message that the model names as the source of the call cannot be it.
    PolicySourceMessage,
    /// A person has to agree first.
    PolicyApprovalRequired,
    /// Nobody decided in time.
    PolicyApprovalExpired,
}

// === impl ErrorCode ===

impl ErrorCode {
    /// The code as it stands in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ArgumentsSyntax => "arguments.syntax",
            Self::ArgumentsNotObject => "arguments.not_object",
            Self::ArgumentsSchema => "arguments.schema",
            Self::ArgumentsDuplicateKey => "arguments.duplicate_key",
            Self::ArgumentsTooLarge => "arguments.too_large",
            Self::ArgumentsTooDeep => "arguments.too_deep",
            Self::ArgumentsTruncated => "arguments.truncated",
            Self::ToolUnknown => "tool.unknown",
            Self::ToolRemoved => "tool.removed",
            Self::ToolFailed => "tool.failed",
            Self::ToolPanicked => "tool.panicked",
            Self::ToolResultInvalid => "tool.result_invalid",
            Self::ToolUnavailable => "tool.unavailable",
            Self::ProviderStarting => "provider.starting",
            Self::ProviderDown => "provider.down",
            Self::ProviderCrashed => "provider.crashed",
            Self::ProviderBreakerOpen => "provider.breaker_open",
            Self::ProviderProtocol => "provider.protocol",
            Self::MiddlewareFailed => "middleware.failed",
            Self::LimitBatch => "limit.batch",
            Self::LimitInFlight => "limit.in_flight",
            Self::LimitRate => "limit.rate",
            Self::LimitQuota => "limit.quota",
            Self::DeadlineExceeded => "deadline.exceeded",
            Self::CancelledCall => "cancelled.call",
            Self::CancelledBatch => "cancelled.batch",
            Self::CancelledSession => "cancelled.session",
            Self::CancelledShutdown => "cancelled.shutdown",
            Self::PolicyDenied => "policy.denied",
            Self::PolicyHidden => "policy.hidden",
            Self::PolicyUserOnly => "policy.user_only",
            Self::PolicyNotLoaded => "policy.not_loaded",
            Self::PolicySourceMessage => "policy.source_message",
            Self::PolicyApprovalRequired => "policy.approval_required",
            Self::PolicyApprovalExpired => "policy.approval_expired",
        }
    }

    /// Whether a failure with this code says that the provider broke, rather than that it refused or ran out of time.
    pub(crate) const fn means_broken(self) -> bool {
        matches!(self, Self::ProviderCrashed | Self::ProviderDown | Self::ProviderProtocol)
    }

    /// The status of a call that ends with this code.
    pub const fn status(self) -> CallStatus {
        match self {
            Self::ArgumentsSyntax
            | Self::ArgumentsNotObject
            | Self::ArgumentsSchema
            | Self::ArgumentsDuplicateKey
            | Self::ArgumentsTooLarge
            | Self::ArgumentsTooDeep => CallStatus::InvalidArguments,
            Self::ArgumentsTruncated => CallStatus::Truncated,
            Self::ToolUnknown | Self::ToolRemoved => CallStatus::UnknownTool,
            Self::ToolFailed
            | Self::ToolPanicked
            | Self::ToolResultInvalid
            | Self::ProviderProtocol
            | Self::MiddlewareFailed => CallStatus::ToolError,
            Self::ToolUnavailable
            | Self::ProviderStarting
            | Self::ProviderDown
            | Self::ProviderCrashed
            | Self::ProviderBreakerOpen => CallStatus::Unavailable,
            Self::LimitBatch | Self::LimitInFlight => CallStatus::Overloaded,
            Self::LimitRate | Self::LimitQuota => CallStatus::RateLimited,
            Self::DeadlineExceeded => CallStatus::Timeout,
            Self::CancelledCall | Self::CancelledBatch | Self::CancelledSession | Self::CancelledShutdown => {
                CallStatus::Cancelled
            }
            Self::PolicyDenied
            | Self::PolicyHidden
            | Self::PolicyUserOnly
            | Self::PolicyNotLoaded
            | Self::PolicySourceMessage
            | Self::PolicyApprovalExpired => CallStatus::Denied,
            Self::PolicyApprovalRequired => CallStatus::ApprovalRequired,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

// === impl CallError ===

impl CallError {
    /// An error without a place in the arguments.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), pointer: None, retry_after: None }
    }

    /// The same error, at this place in the arguments.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// The same error, which ends after this time.
    #[must_use]
    pub fn retry_after(mut self, time: Duration) -> Self {
        self.retry_after = Some(time);
        self
    }
}

// serde's `serialize_with` fixes this signature.
#[expect(clippy::ref_option, reason = "serde fixes the signature")]
fn as_millis<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        None => serializer.serialize_none(),
    }
}

// === impl ToolFailure ===

impl ToolFailure {
    /// A failure that may or may not have reached the tool.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), sent: Sent::Maybe }
    }

    /// A failure before anything was sent to the tool.
    pub fn not_sent(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { sent: Sent::No, ..Self::new(code, message) }
    }
}

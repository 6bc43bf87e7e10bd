//! The closed set of ways in which a call can end.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How one call ended. Every call of a batch has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The tool ran and succeeded.
    Ok,
    /// The tool ran and failed, or panicked.
    ToolError,
    /// The arguments do not fit the tool; it did not run.
    InvalidArguments,
    /// There is no such tool.
    UnknownTool,
    /// The tool's provider is not there, or went away during the call.
    Unavailable,
    /// A limit on calls is reached; the tool did not run.
    Overloaded,
    /// The deadline passed. The tool may have done its work all the same.
    Timeout,
    /// The call, its batch or its session was cancelled.
    Cancelled,
    /// Policy forbids the call; the tool did not run.
    Denied,
    /// A person has to agree first; the tool did not run.
    ApprovalRequired,
    /// A rate or quota is used up; the tool did not run.
    RateLimited,
    /// The model's reply was cut off inside the arguments; the tool did not run.
    Truncated,
}

// === impl CallStatus ===

impl CallStatus {
    /// Every status, in the order of [`CallStatus::index`].
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::ToolError,
        Self::InvalidArguments,
        Self::UnknownTool,
        Self::Unavailable,
        Self::Overloaded,
        Self::Timeout,
        Self::Cancelled,
        Self::Denied,
        Self::ApprovalRequired,
        Self::RateLimited,
        Self::Truncated,
    ];

    /// The name in documents and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::InvalidArguments => "invalid_arguments",
            Self::UnknownTool => "unknown_tool",
            Self::Unavailable => "unavailable",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
            Self::ApprovalRequired => "approval_required",
            Self::RateLimited => "rate_limited",
            Self::Truncated => "truncated",
        }
    }

    /// The place of this status in [`CallStatus::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for CallStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_stands_at_its_index_under_its_name() {
        for (index, status) in CallStatus::ALL.into_iter().enumerate() {
            assert_eq!(status.index(), index);
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}

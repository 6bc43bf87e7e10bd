//! Losses: why there is no result for a call.

use std::fmt;
use std::io;

/// Why there is no result for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loss {
    /// No connection could be made.
    Connect,
    /// The connection ended in the middle.
    Closed,
    /// There was no answer in time.
    TimedOut,
    /// The answer has this HTTP status, and no results.
    Status(u16),
    /// The answer is a JSON-RPC error with this code.
    Rpc(i64),
    /// The answer cannot be read.
    Unreadable,
    /// The answer is larger than an answer may be.
    TooLarge,
    /// The engine refused the batch.
    Refused,
    /// The batch was under way when the run was ended.
    Abandoned,
    /// There was an answer, but not one result for each call in call order.
    Violation,
}

// === impl Loss ===

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::Closed => "closed",
            Self::TimedOut => "timed_out",
            Self::Status(status) => return write!(f, "http_{status}"),
            Self::Rpc(code) => return write!(f, "rpc_{code}"),
            Self::Unreadable => "unreadable",
            Self::TooLarge => "too_large",
            Self::Refused => "refused",
            Self::Abandoned => "abandoned",
            Self::Violation => "violation",
        })
    }
}

impl From<io::Error> for Loss {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Self::Unreadable,
            io::ErrorKind::FileTooLarge => Self::TooLarge,
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Closed,
        }
    }
}

//! Trouble: why a request has no value. Knows the words that a backend may use as codes.

use reqwest::StatusCode;
use toolyard::{ErrorCode, Sent, ToolFailure};

use super::metrics::Outcome;

/// Characters of a backend's own message that are passed on.
const MAX_MESSAGE_CHARS: usize = 1000;

/// Why a request has no value, and as what it is counted.
#[derive(Debug)]
pub(super) struct Trouble {
    outcome: Outcome,
    failure: ToolFailure,
}

// === impl Trouble ===

impl Trouble {
    pub(super) fn outcome(&self) -> Outcome {
        self.outcome
    }

    pub(super) fn into_failure(self) -> ToolFailure {
        self.failure
    }

    /// The backend has answered with an error.
    pub(super) fn answered(code: &str, message: &str) -> Self {
        let known = known_code(code);
        let message: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
        let shown: String = code.chars().take(MAX_MESSAGE_CHARS).collect();
        let message = match (known, message.is_empty(), shown.is_empty()) {
            (_, true, true) => "the bot backend answered with an error and did not say which".to_owned(),
            (_, true, false) => format!("the bot backend answered with the error `{shown}`"),
            (None, false, false) => format!("{message} ({shown})"),
            (_, false, _) => message,
        };
        let mut failure = ToolFailure::new(known.unwrap_or(ErrorCode::ToolFailed), message);
        failure.sent = Sent::Yes;
        Self { outcome: Outcome::Error, failure }
    }

    /// What answers inside this process has failed.
    pub(super) fn from_host(failure: ToolFailure) -> Self {
        let is_absent = failure.code == ErrorCode::ToolUnavailable;
        Self { outcome: if is_absent { Outcome::Unavailable } else { Outcome::Error }, failure }
    }

    /// Nobody is there to take it.
    pub(super) fn absent() -> Self {
        Self::unavailable("no bot backend is connected")
    }

    pub(super) fn unreachable() -> Self {
        Self::unavailable("the bot backend cannot be reached")
    }

    pub(super) fn closing() -> Self {
        Self::not_sent(Outcome::Unavailable, ErrorCode::CancelledShutdown, "Toolyard is shutting down")
    }

    pub(super) fn overloaded() -> Self {
        let message = "too many requests to the bot backend are in flight";
        Self::not_sent(Outcome::Overloaded, ErrorCode::LimitInFlight, message)
    }

    pub(super) fn too_late_to_ask() -> Self {
        let message = "there was no time left to ask the bot backend";
        Self::not_sent(Outcome::Timeout, ErrorCode::DeadlineExceeded, message)
    }

    pub(super) fn no_answer_in_time() -> Self {
        let message = "the bot backend did not answer in time; whether it did what was asked is not known";
        Self::maybe_sent(Outcome::Timeout, ErrorCode::DeadlineExceeded, message)
    }

    /// It went away with the request in its hands.
    pub(super) fn lost() -> Self {
        let message = "the connection to the bot backend broke; whether it did what was asked is not known";
        Self::maybe_sent(Outcome::Broken, ErrorCode::ProviderCrashed, message)
    }

    pub(super) fn unwritable(error: &serde_json::Error) -> Self {
        let message = format!("the request to the bot backend cannot be written: {error}");
        Self { outcome: Outcome::Broken, failure: ToolFailure::not_sent(ErrorCode::ToolFailed, message) }
    }

    pub(super) fn nonsense(what: impl std::fmt::Display) -> Self {
        let message = format!("the bot backend's answer cannot be used: {what}");
        Self::maybe_sent(Outcome::Broken, ErrorCode::ProviderProtocol, message)
    }

    /// An answer with a status other than 200.
    pub(super) fn status(status: StatusCode) -> Self {
        let (code, hint) = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                (ErrorCode::ProviderProtocol, " (is the secret the same on both sides?)")
            }
            StatusCode::NOT_FOUND => (ErrorCode::ProviderProtocol, " (is its address right?)"),
            StatusCode::TOO_MANY_REQUESTS => (ErrorCode::LimitRate, ""),
            StatusCode::SERVICE_UNAVAILABLE => (ErrorCode::ToolUnavailable, ""),
            other if other.is_redirection() => (ErrorCode::ProviderProtocol, " (redirects are not followed)"),
            _ => (ErrorCode::ProviderProtocol, ""),
        };
        let message = format!("the bot backend answered with status {}{hint}", status.as_u16());
        Self::maybe_sent(Outcome::Broken, code, message)
    }

    fn unavailable(message: &'static str) -> Self {
        Self::not_sent(Outcome::Unavailable, ErrorCode::ToolUnavailable, message)
    }

    fn not_sent(outcome: Outcome, code: ErrorCode, message: &'static str) -> Self {
        Self { outcome, failure: ToolFailure::not_sent(code, message) }
    }

    fn maybe_sent(outcome: Outcome, code: ErrorCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self { outcome, failure: ToolFailure::new(code, message) }
    }
}

/// The words of backends that mean something to Toolyard; all others mean that what was asked has failed.
fn known_code(code: &str) -> Option<ErrorCode> {
    match code {
        "unavailable" | "unknown_capability" => Some(ErrorCode::ToolUnavailable),
        "denied" => Some(ErrorCode::PolicyDenied),
        "rate_limited" => Some(ErrorCode::LimitRate),
        "overloaded" => Some(ErrorCode::LimitInFlight),
        "timeout" => Some(ErrorCode::DeadlineExceeded),
        "failed" => Some(ErrorCode::ToolFailed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_of_a_backend_become_codes_and_unknown_ones_stay_readable() {
        let said = |code, message| {
            let failure = Trouble::answered(code, message).into_failure();
            (failure.code, failure.message.into_owned())
        };
        assert_eq!(said("denied", "muted"), (ErrorCode::PolicyDenied, "muted".to_owned()));
        assert_eq!(said("E_GROUP", "no such group"), (ErrorCode::ToolFailed, "no such group (E_GROUP)".to_owned()));
        assert!(said("unavailable", "").1.contains("`unavailable`"));
        assert_eq!(said("", "").0, ErrorCode::ToolFailed);
        assert_eq!(said("failed", &"长".repeat(5000)).1.chars().count(), MAX_MESSAGE_CHARS);
    }
}

//! What is measured of the requests to the backend.

use metrics::{Gauge, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use tokio::time::Instant;
use toolyard::JsonText;

use super::trouble::Trouble;

const REQUESTS_TOTAL: &str = "toolyard_backend_requests_total";
const REQUEST_SECONDS: &str = "toolyard_backend_request_duration_seconds";
const IN_FLIGHT: &str = "toolyard_backend_requests_in_flight";
const STRAY_ANSWERS: &str = "toolyard_backend_stray_answers_total";
const CONSUMERS: &str = "toolyard_backend_consumers";

/// What the text before the first dot of a capability may be to have a label of its own.
const FAMILIES: [&str; 20] = [
    "api",
    "chat",
    "component",
    "config",
    "database",
    "elicitation",
    "emoji",
    "frequency",
    "knowledge",
    "lenbot",
    "llm",
    "maisaka",
    "message",
    "person",
    "render",
    "sampling",
    "send",
    "statistic",
    "tool",
    "user",
];

/// Label value for every other capability.
const OTHER: &str = "_other";

/// Tells the installed recorder what each metric means.
pub(crate) fn describe() {
    describe_counter!(
        REQUESTS_TOTAL,
        Unit::Count,
        "Requests to the bot backend by family of capabilities and outcome."
    );
    describe_histogram!(REQUEST_SECONDS, Unit::Seconds, "From a request to the bot backend to its answer.");
    describe_gauge!(IN_FLIGHT, Unit::Count, "Requests to the bot backend in flight.");
    describe_counter!(STRAY_ANSWERS, Unit::Count, "Answers to requests that are over or were never made.");
    describe_gauge!(CONSUMERS, Unit::Count, "Connected streams that take requests for the bot backend.");
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With a value.
    Ok,
    /// The backend said that it failed.
    Error,
    /// Nobody was there to take it.
    Unavailable,
    /// Too many were in flight.
    Overloaded,
    /// No answer in time.
    Timeout,
    /// Whoever asked has given it up.
    Cancelled,
    /// The connection broke, or the answer was nonsense.
    Broken,
}

/// One request, from its start to its end. Dropped before its end, it counts as cancelled.
#[derive(Debug)]
pub(super) struct Measured {
    family: &'static str,
    started: Instant,
    outcome: Outcome,
    in_flight: Gauge,
}

/// Counts an answer that nobody waits for.
pub(super) fn count_stray_answer(is_late: bool) {
    counter!(STRAY_ANSWERS, "reason" => if is_late { "late" } else { "unknown" }).increment(1);
}

#[expect(clippy::cast_precision_loss, reason = "a handful")]
pub(super) fn set_consumers(count: usize) {
    gauge!(CONSUMERS).set(count as f64);
}

// === impl Measured ===

impl Measured {
    pub(super) fn start(capability: &str) -> Self {
        let in_flight = gauge!(IN_FLIGHT);
        in_flight.increment(1.0);
        Self { family: family(capability), started: Instant::now(), outcome: Outcome::Cancelled, in_flight }
    }

    pub(super) fn ended(mut self, answered: &Result<JsonText, Trouble>) {
        self.outcome = answered.as_ref().map_or_else(Trouble::outcome, |_value| Outcome::Ok);
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.in_flight.decrement(1.0);
        let (family, outcome) = (self.family, self.outcome.as_str());
        counter!(REQUESTS_TOTAL, "capability_family" => family, "outcome" => outcome).increment(1);
        histogram!(REQUEST_SECONDS, "capability_family" => family).record(self.started.elapsed());
    }
}

fn family(capability: &str) -> &'static str {
    let family = capability.split('.').next().unwrap_or_default();
    FAMILIES.into_iter().find(|known| *known == family).unwrap_or(OTHER)
}

// === impl Outcome ===

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Unavailable => "unavailable",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Broken => "broken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_families_have_a_label_of_their_own() {
        let families = ["send.text", "llm.generate", "lenbot.send", "sampling.create", "secret-7.x", "", "Send.text"];
        let expected = ["send", "llm", "lenbot", "sampling", OTHER, OTHER, OTHER];
        assert_eq!(families.map(family), expected);
    }
}

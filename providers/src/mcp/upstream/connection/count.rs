//! What goes wrong with the messages of MCP servers, as metrics.

use metrics::{Counter, Gauge, Unit, counter, describe_counter, describe_gauge, gauge};

use super::pending::Place;

const PENDING: &str = "toolyard_mcp_requests_pending";
const DROPPED_REPLIES: &str = "toolyard_mcp_replies_dropped_total";
const BROKEN_REPLIES: &str = "toolyard_mcp_replies_broken_total";
const NOISE: &str = "toolyard_mcp_noise_bytes_total";
const DROPPED_MESSAGES: &str = "toolyard_mcp_messages_dropped_total";

/// The metrics of one server.
pub(super) struct Counts {
    pub(super) pending: Gauge,
    pub(super) broken: Counter,
    pub(super) noise_bytes: Counter,
    pub(super) requests: Counter,
    pub(super) logs: Counter,
    late: Counter,
    duplicate: Counter,
    unknown: Counter,
}

/// Tells the installed recorder what each metric of MCP servers means.
pub fn describe_mcp_metrics() {
    describe_gauge!(PENDING, Unit::Count, "Requests to an MCP server that wait for their answers.");
    describe_counter!(
        DROPPED_REPLIES,
        Unit::Count,
        "Answers of an MCP server that nobody waited for: late, duplicate, or to no request."
    );
    describe_counter!(BROKEN_REPLIES, Unit::Count, "Answers of an MCP server that could not be used.");
    describe_counter!(NOISE, Unit::Bytes, "What an MCP server said that is no message.");
    describe_counter!(
        DROPPED_MESSAGES,
        Unit::Count,
        "Requests and log lines of an MCP server that came faster than they could be passed on."
    );
}

// === impl Counts ===

impl Counts {
    pub(super) fn of(provider: &str) -> Self {
        let with =
            |key: &'static str, value: &'static str| [("provider", provider.to_owned()), (key, value.to_owned())];
        let provider = [("provider", provider.to_owned())];
        Self {
            pending: gauge!(PENDING, &provider),
            broken: counter!(BROKEN_REPLIES, &provider),
            noise_bytes: counter!(NOISE, &provider),
            requests: counter!(DROPPED_MESSAGES, &with("kind", "request")),
            logs: counter!(DROPPED_MESSAGES, &with("kind", "log")),
            late: counter!(DROPPED_REPLIES, &with("why", "late")),
            duplicate: counter!(DROPPED_REPLIES, &with("why", "duplicate")),
            unknown: counter!(DROPPED_REPLIES, &with("why", "unknown")),
        }
    }

    /// Counts an answer, if it was dropped.
    pub(super) fn settled(&self, place: Place) {
        match place {
            Place::Awaited => {}
            Place::Late => self.late.increment(1),
            Place::Duplicate => self.duplicate.increment(1),
            Place::Unknown => self.unknown.increment(1),
        }
    }
}

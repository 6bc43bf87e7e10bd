//! Every metric of the engine: names, units, labels, and the handles that the invoke path uses.
//!
//! Labels come from closed sets: registered providers and their tools, statuses, codes, gates. A name that a model made
//! up is always `_unknown`. The invoke path counts into buckets of its own, one set for each worker, so that no two cores
//! write to the same place; [`crate::ToolRegistry::publish_metrics`] hands them over to the recorder,
//! best to a [`HistogramRecorder`].

mod approvals;
mod buckets;
mod labels;
mod recorder;
mod tool;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metrics::{
    Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::gate::Gate;
use crate::result::ErrorCode;

use crate::shards::Sharded;
pub(crate) use approvals::{publish_approvals, record_decision};
use buckets::{Buckets, HandedOver};
pub(crate) use labels::ToolLabels;
pub use recorder::{HistogramHandle, HistogramRecorder};
pub(crate) use tool::{CallTimes, ToolMetrics};

/// Bucket bounds for all latencies, in seconds: 10 µs to 5 min.
pub const LATENCY_BUCKETS_SECONDS: [f64; 20] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
    0.5, 1.0, 5.0, 30.0, 120.0, 300.0,
];

const CALLS_TOTAL: &str = "toolyard_calls_total";
const CALL_SECONDS: &str = "toolyard_call_duration_seconds";
const RUN_SECONDS: &str = "toolyard_call_run_seconds";
const QUEUE_SECONDS: &str = "toolyard_call_queue_wait_seconds";
const BATCH_SECONDS: &str = "toolyard_batch_duration_seconds";
const FAILURES_TOTAL: &str = "toolyard_call_failures_total";
const REFUSALS_TOTAL: &str = "toolyard_call_refusals_total";
const CALLS_IN_FLIGHT: &str = "toolyard_calls_in_flight";
const MAILBOX_DEPTH: &str = "toolyard_mailbox_depth";
const SESSIONS: &str = "toolyard_sessions";
const PROVIDER_UP: &str = "toolyard_provider_up";
const BREAKER_OPEN: &str = "toolyard_provider_breaker_open";
const CONTEXTS_TOTAL: &str = "toolyard_contexts_total";
const PROVIDER_STARTS: &str = "toolyard_provider_starts_total";

/// Label value for everything that is not registered.
const UNKNOWN: &str = "_unknown";

/// Tells the installed recorder what each metric means. Call once, after installing it.
pub fn describe_metrics() {
    describe_counter!(CALLS_TOTAL, Unit::Count, "Calls by provider, tool and status.");
    describe_histogram!(CALL_SECONDS, Unit::Seconds, "From the start of the batch to the end of the call.");
    describe_histogram!(RUN_SECONDS, Unit::Seconds, "From the start of the tool to its end.");
    describe_histogram!(QUEUE_SECONDS, Unit::Seconds, "From the start of the batch to the start of the tool.");
    describe_histogram!(BATCH_SECONDS, Unit::Seconds, "From the start of a batch to its outcome.");
    describe_counter!(FAILURES_TOTAL, Unit::Count, "Calls that ran and failed, by provider and how they failed.");
    describe_counter!(REFUSALS_TOTAL, Unit::Count, "Calls refused before they ran, by gate and code.");
    describe_gauge!(CALLS_IN_FLIGHT, Unit::Count, "Calls in flight by provider.");
    describe_gauge!(MAILBOX_DEPTH, Unit::Count, "Messages that wait at an actor.");
    describe_gauge!(SESSIONS, Unit::Count, "Sessions in memory.");
    describe_gauge!(PROVIDER_UP, Unit::Count, "1 when the provider takes calls, else 0.");
    describe_gauge!(
        BREAKER_OPEN,
        Unit::Count,
        "1 while the provider is left alone because it failed too often, else 0."
    );
    describe_counter!(CONTEXTS_TOTAL, Unit::Count, "What context providers were asked for, by how they answered.");
    approvals::describe();
    describe_counter!(PROVIDER_STARTS, Unit::Count, "Attempts to start a provider, by how they ended.");
}

/// How a call that ran has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The tool said so.
    Reported,
    /// The provider broke, or answered with nonsense.
    Exception,
    /// The tool panicked.
    Panic,
    /// The provider went away.
    Crash,
}

/// What belongs to no tool.
#[derive(Debug)]
pub(crate) struct EngineMetrics {
    batches: Sharded<Buckets>,
    published: Mutex<Option<(HandedOver, Histogram)>>,
    unknown: ToolMetrics,
}

// === impl EngineMetrics ===

impl EngineMetrics {
    pub(crate) fn new() -> Self {
        let unknown = ToolMetrics::new(UNKNOWN.into(), UNKNOWN.into());
        Self { batches: Sharded::default(), published: Mutex::default(), unknown }
    }

    /// Where calls are counted that lead to no tool.
    pub(crate) fn unknown(&self) -> &ToolMetrics {
        &self.unknown
    }

    pub(crate) fn record_batch(&self, duration: Duration) {
        let (batches, writer) = self.batches.mine();
        batches.record(writer, u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Hands what was counted over to the recorder.
    pub(crate) fn publish(&self) {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let (told, histogram) = published.get_or_insert_with(|| (HandedOver::default(), histogram!(BATCH_SECONDS)));
        told.catch_up(self.batches.all(), histogram);
        drop(published);
        self.unknown.publish();
    }
}

/// Counts a call that a gate refused.
pub(crate) fn record_refusal(gate: Gate, code: ErrorCode) {
    counter!(REFUSALS_TOTAL, "gate" => gate.as_str(), "code" => code.as_str()).increment(1);
}

/// Counts an attempt to start a provider.
pub(crate) fn record_start(provider: &Arc<str>, up: bool) {
    let outcome = if up { "up" } else { "failed" };
    counter!(PROVIDER_STARTS, "provider" => shared(provider), "outcome" => outcome).increment(1);
}

/// Counts a question to a context provider.
pub(crate) fn record_context(provider: &Arc<str>, outcome: &'static str) {
    counter!(CONTEXTS_TOTAL, "provider" => shared(provider), "outcome" => outcome).increment(1);
}

pub(crate) fn in_flight_gauge(provider: &Arc<str>) -> Gauge {
    gauge!(CALLS_IN_FLIGHT, "provider" => shared(provider))
}

pub(crate) fn up_gauge(provider: &Arc<str>) -> Gauge {
    gauge!(PROVIDER_UP, "provider" => shared(provider))
}

pub(crate) fn breaker_gauge(provider: &Arc<str>) -> Gauge {
    gauge!(BREAKER_OPEN, "provider" => shared(provider))
}

pub(crate) fn sessions_gauge() -> Gauge {
    gauge!(SESSIONS)
}

pub(crate) fn mailbox_gauge(actor: &'static str) -> Gauge {
    gauge!(MAILBOX_DEPTH, "actor" => actor)
}

fn shared(text: &Arc<str>) -> metrics::SharedString {
    metrics::SharedString::from_shared(Arc::clone(text))
}

// === impl FailureKind ===

impl FailureKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Exception => "exception",
            Self::Panic => "panic",
            Self::Crash => "crash",
        }
    }
}

//! `[objectives]`: what the run must reach.

use serde::Deserialize;

use super::reader::Reader;

const SECTION: &str = "objectives";

/// What the run must reach. Latencies are those of batches, corrected where the run corrects them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ObjectiveKeys {
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p90_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    pub(crate) p999_ms: Option<f64>,
    pub(crate) max_ms: Option<f64>,
    pub(crate) call_p50_ms: Option<f64>,
    pub(crate) call_p99_ms: Option<f64>,
    /// Share of calls that did not end `ok`, those of lost batches included.
    pub(crate) error_ratio: Option<f64>,
    pub(crate) min_calls_per_second: Option<f64>,
    pub(crate) min_batches_per_second: Option<f64>,
    /// Batches that found no room in an open loop.
    pub(crate) not_sent: Option<u64>,
    /// Batches without an answer that can be read.
    pub(crate) lost: Option<u64>,
    /// Answers that break a promise; more than none also ends with the status 3.
    pub(crate) violations: Option<u64>,
    /// CPU time of loadgen, or of the daemon where its `pid` is known, per call.
    pub(crate) cpu_us_per_call: Option<f64>,
    /// Peak memory of the same process.
    pub(crate) memory_mib: Option<f64>,
}

// === impl ObjectiveKeys ===

impl ObjectiveKeys {
    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        let numbers = [
            ("p50_ms", self.p50_ms),
            ("p90_ms", self.p90_ms),
            ("p99_ms", self.p99_ms),
            ("p999_ms", self.p999_ms),
            ("max_ms", self.max_ms),
            ("call_p50_ms", self.call_p50_ms),
            ("call_p99_ms", self.call_p99_ms),
            ("min_calls_per_second", self.min_calls_per_second),
            ("min_batches_per_second", self.min_batches_per_second),
            ("cpu_us_per_call", self.cpu_us_per_call),
            ("memory_mib", self.memory_mib),
        ];
        for (key, number) in numbers {
            reader.within(SECTION, key, number.unwrap_or_default(), 0.0, 1e12);
        }
        reader.within(SECTION, "error_ratio", self.error_ratio.unwrap_or_default(), 0.0, 1.0);
    }
}

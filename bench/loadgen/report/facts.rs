//! Facts: the parts of the results.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use crate::recording::{Latency, Series};
use crate::scenario::{Scenario, TargetKind};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScenarioFacts {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// `open` or `closed`.
    #[serde(rename = "loop")]
    pub(crate) loop_kind: String,
    pub(crate) sessions: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<f64>,
    pub(crate) tools: usize,
    pub(crate) max_calls_per_batch: usize,
    pub(crate) deadline_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HostFacts {
    pub(crate) os: String,
    pub(crate) cores: usize,
    pub(crate) workers: usize,
    pub(crate) toolyard: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LostFacts {
    pub(crate) batches: u64,
    pub(crate) calls: u64,
    /// Calls by reason.
    pub(crate) reasons: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WarmUpFacts {
    pub(crate) batches: u64,
    pub(crate) calls: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LatencyFacts {
    /// How what is corrected was: `from_due`, `expected_interval` or `none`.
    pub(crate) correction: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expected_interval_ms: Option<f64>,
    pub(crate) batch: LatencyPair,
    pub(crate) call: LatencyPair,
    /// How late batches were sent in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) late: Option<Distribution>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LatencyPair {
    pub(crate) raw: Distribution,
    pub(crate) corrected: Distribution,
}

/// What processes used while it was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct UsageFacts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) loadgen: Option<ProcessFacts>,
    /// The daemon, where its process id was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<ProcessFacts>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ProcessFacts {
    pub(crate) cpu_s: f64,
    pub(crate) cpu_us_per_call: f64,
    pub(crate) peak_memory_bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PhaseFacts {
    pub(crate) name: String,
    pub(crate) seconds: f64,
    pub(crate) batches: u64,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) batch: Distribution,
}

/// One interval, told at its end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PointFacts {
    pub(crate) at_s: f64,
    pub(crate) batches_per_s: f64,
    pub(crate) calls_per_s: f64,
    pub(crate) errors: u64,
    pub(crate) under_way: u64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

// === impl ScenarioFacts ===

impl ScenarioFacts {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let target = match scenario.target.kind {
            TargetKind::Embedded => "embedded",
            TargetKind::Http => "http",
            TargetKind::Mcp => "mcp",
        };
        Self {
            name: scenario.name.clone(),
            seed: scenario.seed,
            target: target.to_owned(),
            url: scenario.target.url.clone(),
            loop_kind: if scenario.load.is_open() { "open" } else { "closed" }.to_owned(),
            sessions: scenario.max_sessions(),
            rate: scenario.load.rate,
            tools: scenario.tools.len(),
            max_calls_per_batch: scenario.max_calls(),
            deadline_ms: scenario.load.deadline_ms,
        }
    }
}

// === impl HostFacts ===

impl HostFacts {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            workers,
            toolyard: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

// === impl LatencyFacts ===

impl LatencyFacts {
    pub(super) fn new(scenario: &Scenario, series: &Series) -> Self {
        let middle = Duration::from_nanos(series.total.batch.raw.value_at_quantile(0.5));
        let interval = scenario.load.expected_interval(middle);
        let pair = |latency: &Latency| LatencyPair {
            raw: Distribution::new(&latency.raw),
            corrected: Distribution::new(&latency.corrected(interval)),
        };
        let correction = match (scenario.load.is_open(), interval) {
            (true, _) => "from_due",
            (false, Some(_)) => "expected_interval",
            (false, None) => "none",
        };
        Self {
            correction: correction.to_owned(),
            expected_interval_ms: interval.map(|interval| interval.as_secs_f64() * 1e3),
            batch: pair(&series.total.batch),
            call: pair(&series.total.call),
            late: series.total.late.as_ref().map(Distribution::new),
        }
    }
}

pub(super) fn phases(series: &Series) -> Vec<PhaseFacts> {
    let facts = series.phases.iter().map(|phase| PhaseFacts {
        name: phase.name.clone(),
        seconds: phase.seconds,
        batches: phase.batches,
        calls: phase.calls,
        errors: phase.errors,
        batch: Distribution::new(&phase.batch),
    });
    facts.collect()
}

pub(super) fn points(series: &Series) -> Vec<PointFacts> {
    let facts = series.points.iter().map(|point| PointFacts {
        at_s: point.at_s,
        batches_per_s: point.batches as f64 / point.seconds,
        calls_per_s: point.calls as f64 / point.seconds,
        errors: point.errors,
        under_way: point.under_way,
        p50_ms: point.p50_ms,
        p99_ms: point.p99_ms,
        max_ms: point.max_ms,
    });
    facts.collect()
}

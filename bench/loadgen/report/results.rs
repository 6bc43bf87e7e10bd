//! The results of a run, as a document: what `--json` writes and what is compared. docs/loadgen.md has every key.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolyard::CallStatus;

use super::distribution::Distribution;
use crate::objective::{self, Objective};
use crate::recording::{Latency, Series};
use crate::scenario::{Scenario, TargetKind};
use crate::usage::Usage;

pub(crate) const FORMAT: &str = "toolyard-loadgen";
/// Grows when a key changes its meaning or goes; not when one comes.
pub(crate) const VERSION: u32 = 1;

/// The results of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) format: String,
    pub(crate) version: u32,
    pub(crate) scenario: ScenarioFacts,
    pub(crate) host: HostFacts,
    /// Seconds since 1970.
    pub(crate) started_at: f64,
    pub(crate) interrupted: bool,
    /// How long was measured.
    pub(crate) measured_s: f64,
    pub(crate) batches: u64,
    pub(crate) calls: u64,
    pub(crate) batches_per_s: f64,
    pub(crate) calls_per_s: f64,
    /// Calls by how they ended; only those that came up.
    pub(crate) statuses: BTreeMap<String, u64>,
    pub(crate) lost: LostFacts,
    pub(crate) error_ratio: f64,
    pub(crate) violations: u64,
    pub(crate) not_sent: u64,
    pub(crate) warm_up: WarmUpFacts,
    pub(crate) latency: LatencyFacts,
    pub(crate) usage: UsageFacts,
    pub(crate) phases: Vec<PhaseFacts>,
    pub(crate) series: Vec<PointFacts>,
    pub(crate) objectives: Vec<Objective>,
}

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

/// What the run knows beside what was recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFacts {
    pub(crate) workers: usize,
    pub(crate) started_at: Duration,
    pub(crate) measured: Duration,
    pub(crate) is_interrupted: bool,
    pub(crate) warm_up: (u64, u64),
    pub(crate) own: Option<Usage>,
    pub(crate) target: Option<Usage>,
}

// === impl Results ===

impl Results {
    pub(crate) fn new(scenario: &Scenario, series: &Series, run: RunFacts) -> Self {
        let total = &series.total;
        let measured_s = run.measured.as_secs_f64();
        let per_s = |count: u64| if measured_s > 0.0 { count as f64 / measured_s } else { 0.0 };
        let process = |usage: Usage| ProcessFacts {
            cpu_s: usage.cpu_s,
            cpu_us_per_call: if total.calls > 0 { usage.cpu_s * 1e6 / total.calls as f64 } else { 0.0 },
            peak_memory_bytes: usage.peak_memory_bytes,
        };
        let statuses = CallStatus::ALL.into_iter().filter(|status| total.ended(*status) > 0);
        let mut results = Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            scenario: ScenarioFacts::new(scenario),
            host: HostFacts::new(run.workers),
            started_at: run.started_at.as_secs_f64(),
            interrupted: run.is_interrupted,
            measured_s,
            batches: total.batches,
            calls: total.calls,
            batches_per_s: per_s(total.batches),
            calls_per_s: per_s(total.calls),
            statuses: statuses.map(|status| (status.to_string(), total.ended(status))).collect(),
            lost: LostFacts {
                batches: total.lost_batches,
                calls: total.lost(),
                reasons: total.lost_calls.iter().map(|(loss, calls)| (loss.to_string(), *calls)).collect(),
            },
            error_ratio: if total.calls > 0 { total.errors() as f64 / total.calls as f64 } else { 0.0 },
            violations: total.violations,
            not_sent: total.not_sent,
            warm_up: WarmUpFacts { batches: run.warm_up.0, calls: run.warm_up.1 },
            latency: LatencyFacts::new(scenario, series),
            usage: UsageFacts { loadgen: run.own.map(process), target: run.target.map(process) },
            phases: phases(series),
            series: points(series),
            objectives: Vec::new(),
        };
        let usage = &results.usage;
        // Where the target's process was to be measured and is not there any more, loadgen's own does not count for it.
        let process = if scenario.target.pid.is_some() { usage.target } else { usage.loadgen };
        results.objectives = objective::judge(&scenario.objectives, &results, process);
        results
    }

    /// Whether the run has given anything to go by.
    pub(crate) fn has_answers(&self) -> bool {
        self.calls > self.lost.calls
    }

    pub(crate) fn misses_an_objective(&self) -> bool {
        self.objectives.iter().any(|objective| !objective.met)
    }
}

// === impl ScenarioFacts ===

impl ScenarioFacts {
    fn new(scenario: &Scenario) -> Self {
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
    fn new(workers: usize) -> Self {
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
    fn new(scenario: &Scenario, series: &Series) -> Self {
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

fn phases(series: &Series) -> Vec<PhaseFacts> {
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

fn points(series: &Series) -> Vec<PointFacts> {
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

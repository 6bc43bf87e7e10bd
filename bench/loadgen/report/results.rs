//! The results of a run, as a document: what `--json` writes and what is compared. docs/loadgen.md has every key.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolyard::CallStatus;

use super::facts::{
    HostFacts, LatencyFacts, LostFacts, PhaseFacts, PointFacts, ProcessFacts, ScenarioFacts, UsageFacts, WarmUpFacts,
    phases, points,
};
use crate::objective::{self, Objective};
use crate::recording::Series;
use crate::scenario::Scenario;
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

//! What a worker is asked.

use std::time::Duration;

use serde::Deserialize;

/// One line from the harness.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Sessions that run batches one after the other until their time is over.
    Run(RunRequest),
    /// Sessions that run one batch each, all at once.
    Burst(BurstRequest),
    /// The end.
    Quit,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RunRequest {
    #[serde(flatten)]
    pub(crate) batches: Batches,
    budget_ms: f64,
    /// Batches of one session at most.
    #[serde(default = "unlimited")]
    pub(crate) max_batches: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BurstRequest {
    #[serde(flatten)]
    pub(crate) batches: Batches,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Batches {
    /// Calls of a batch.
    pub(crate) n: usize,
    pub(crate) sessions: usize,
    /// What every tool waits; 0 is not at all.
    #[serde(default)]
    pub(crate) sleep_ms: u64,
}

// === impl RunRequest ===

impl RunRequest {
    pub(crate) fn budget(&self) -> Duration {
        Duration::try_from_secs_f64(self.budget_ms / 1e3).unwrap_or_default()
    }
}

fn unlimited() -> usize {
    usize::MAX
}

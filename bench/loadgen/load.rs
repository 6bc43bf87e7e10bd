//! The load: batches are begun by a closed loop of sessions or by an open loop of arrivals, and each is recorded.

mod arrivals;
mod closed;
mod deck;
mod open;
mod pace;
mod timeline;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use timeline::Timeline;

use crate::recording::{Recording, Sample};
use crate::scenario::{Arrivals, Scenario};
use crate::target::{Target, Work};
use deck::Deck;

/// What all tasks of a run share.
#[derive(Debug)]
pub(crate) struct Load {
    timeline: Timeline,
    deck: Deck,
    target: Arc<Target>,
    recording: Arc<Recording>,
    start: Instant,
    seed: u64,
    sessions: u32,
    think: Duration,
    arrivals: Arrivals,
    max_outstanding: usize,
    /// How long batches under way may take when the load has ended.
    grace: Duration,
    stop: Stop,
}

/// Ends a run early. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    /// No batch is begun any more.
    pub(crate) begun: CancellationToken,
    /// Batches under way are given up.
    pub(crate) at_once: CancellationToken,
}

// === impl Load ===

impl Load {
    pub(crate) fn new(
        scenario: &Scenario,
        target: Arc<Target>,
        recording: Arc<Recording>,
        start: Instant,
        stop: Stop,
    ) -> Self {
        let load = &scenario.load;
        Self {
            timeline: Timeline::new(load, &scenario.phases),
            deck: Deck::new(scenario),
            target,
            recording,
            start,
            seed: scenario.seed,
            sessions: scenario.max_sessions(),
            think: Duration::from_secs_f64(load.think_ms / 1e3),
            arrivals: load.arrivals,
            max_outstanding: load.max_outstanding,
            grace: scenario.target.timeout(load.deadline()) + Duration::from_secs(1),
            stop,
        }
    }

    /// Runs to the end of the timeline, or until it is stopped, and waits for the batches that are under way.
    pub(crate) async fn run(self) {
        let load = Arc::new(self);
        let mut tasks = JoinSet::new();
        if load.recording.is_open() {
            open::run(&load, &mut tasks).await;
        } else {
            closed::run(&load, &mut tasks);
        }
        let end = load.start + load.timeline.end();
        tokio::select! {
            () = async { while tasks.join_next().await.is_some() {} } => {}
            () = tokio::time::sleep_until(end.max(Instant::now()) + load.grace) => {}
            () = load.stop.at_once.cancelled() => {}
        }
        // Batches that are still under way count themselves as lost when they are dropped.
        tasks.shutdown().await;
    }

    /// Sends the batch in `work`, and records it.
    async fn send(&self, session: u32, due: Instant, work: &mut Work) {
        let under_way = self.recording.begin(work.hand.len(), due);
        let sent = Instant::now();
        self.target.run(session, work).await;
        under_way.end(&Sample { due, sent, ended: Instant::now(), ends: &work.ends });
    }

    /// A source of choices for one session or for all arrivals.
    fn random(&self, stream: u64) -> fastrand::Rng {
        // Seeds that are near each other must not give streams that are.
        let mut seeds = fastrand::Rng::with_seed(self.seed);
        fastrand::Rng::with_seed(seeds.u64(..) ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

#[cfg(test)]
#[cfg(feature = "paused-time")]
mod tests;

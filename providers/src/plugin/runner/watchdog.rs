//! The watchdog: is the runner alive, and does it do what it is told?

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;
use tokio::time::{Instant, interval, timeout};

use super::gauges::ProcessGauges;
use super::provider::Shared;
use crate::plugin::wire;

/// The answers to health checks.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    /// The check that is under way.
    asked: AtomicU64,
    last: AtomicU64,
    came: Notify,
}

// === impl Pulse ===

impl Pulse {
    /// An answer to a check that was not made counts for nothing.
    pub(super) fn answered(&self, id: u64) {
        if id == self.asked.load(Ordering::Relaxed) {
            self.last.store(id, Ordering::Relaxed);
            self.came.notify_one();
        }
    }

    fn ask(&self, id: u64) {
        self.asked.store(id, Ordering::Relaxed);
    }

    async fn wait_for(&self, id: u64) {
        while self.last.load(Ordering::Relaxed) < id {
            self.came.notified().await;
        }
    }
}

/// Checks a runner's health again and again, and that cancelled handlers end, until it is aborted or the runner is ended.
pub(super) async fn watch(shared: Arc<Shared>, pulse: Arc<Pulse>) {
    let (every, limit) = (shared.config.health_interval(), shared.config.health_timeout());
    let (mut reported, gauges) = (false, ProcessGauges::of(&shared.name));
    let mut ticks = interval(every.min(shared.config.cancel_grace().max(std::time::Duration::from_millis(50))));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let (mut id, mut checked) = (0, Instant::now());
    loop {
        ticks.tick().await;
        if let Some(usage) = shared.child.usage() {
            gauges.set(&usage);
        }
        if !reported && let Some(limit) = Instant::now().checked_sub(shared.config.cancel_grace()) {
            let stuck = shared.link.calls.stuck_since(limit);
            if let Some(tool) = stuck.first() {
                reported = true;
                tracing::warn!(provider = %shared.name, %tool, handlers = stuck.len(), "cancelled handlers go on");
                shared.outdated.tell(format!("a handler of `{tool}` went on after it was cancelled"));
            }
        }
        if checked.elapsed() < every {
            continue;
        }
        checked = Instant::now();
        id += 1;
        pulse.ask(id);
        shared.link.try_send(wire::ping(id));
        if timeout(limit, pulse.wait_for(id)).await.is_err() {
            shared.link.end(format!("it did not answer a health check within {} ms", limit.as_millis()));
            shared.child.kill_now();
            return;
        }
    }
}

//! ToolMetrics: what is counted of one tool.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use metrics::{Counter, Histogram, counter, histogram};

use super::buckets::Buckets;
use super::shards::Sharded;
use super::{CALL_SECONDS, CALLS_TOTAL, FAILURES_TOTAL, FailureKind, QUEUE_SECONDS, RUN_SECONDS, shared};
use crate::result::CallStatus;

/// What is counted of one tool. Made at registration; takes room only once the tool is called. What has not been
/// published is when it is dropped.
#[derive(Debug)]
pub(crate) struct ToolMetrics {
    provider: Arc<str>,
    tool: Arc<str>,
    counts: OnceLock<Box<Sharded<Counts>>>,
    by_status: [OnceLock<Counter>; CallStatus::ALL.len()],
    latency: OnceLock<Latency>,
}

/// The times of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTimes {
    pub(crate) total: Duration,
    /// Queue wait and run, where the tool was started.
    pub(crate) started: Option<(Duration, Duration)>,
}

/// What one worker has counted.
#[derive(Debug, Default)]
struct Counts {
    by_status: [AtomicU64; CallStatus::ALL.len()],
    call: Buckets,
    run: Buckets,
    queue: Buckets,
}

/// The recorder's handles.
#[derive(Debug)]
struct Latency {
    call: Histogram,
    run: Histogram,
    queue: Histogram,
}

// === impl ToolMetrics ===

impl ToolMetrics {
    pub(crate) fn new(provider: Arc<str>, tool: Arc<str>) -> Self {
        let by_status = std::array::from_fn(|_| OnceLock::new());
        Self { provider, tool, counts: OnceLock::new(), by_status, latency: OnceLock::new() }
    }

    pub(crate) fn record(&self, status: CallStatus, times: CallTimes) {
        let counts = self.counts.get_or_init(Box::default).mine();
        counts.by_status[status.index()].fetch_add(1, Ordering::Relaxed);
        counts.call.record(times.total);
        if let Some((queue, run)) = times.started {
            counts.queue.record(queue);
            counts.run.record(run);
        }
    }

    /// Failures are rare enough to be looked up.
    pub(crate) fn record_failure(&self, kind: FailureKind) {
        counter!(FAILURES_TOTAL, "provider" => shared(&self.provider), "kind" => kind.as_str()).increment(1);
    }

    /// Hands what was counted over to the recorder.
    pub(crate) fn publish(&self) {
        let Some(counts) = self.counts.get() else { return };
        let latency = self.latency.get_or_init(|| self.latency());
        counts.each(|counts| {
            for (status, count) in CallStatus::ALL.into_iter().zip(&counts.by_status) {
                let count = count.swap(0, Ordering::Relaxed);
                if count > 0 {
                    self.by_status[status.index()].get_or_init(|| self.counter(status)).increment(count);
                }
            }
            counts.call.drain_into(&latency.call);
            counts.run.drain_into(&latency.run);
            counts.queue.drain_into(&latency.queue);
        });
    }

    fn counter(&self, status: CallStatus) -> Counter {
        let (provider, tool) = (shared(&self.provider), shared(&self.tool));
        counter!(CALLS_TOTAL, "provider" => provider, "tool" => tool, "status" => status.as_str())
    }

    fn latency(&self) -> Latency {
        let histogram =
            |name: &'static str| histogram!(name, "provider" => shared(&self.provider), "tool" => shared(&self.tool));
        Latency {
            call: histogram(CALL_SECONDS),
            run: histogram(RUN_SECONDS),
            queue: histogram!(QUEUE_SECONDS, "provider" => shared(&self.provider)),
        }
    }
}

impl Drop for ToolMetrics {
    fn drop(&mut self) {
        self.publish();
    }
}

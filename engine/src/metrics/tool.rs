//! ToolMetrics: what is counted of one tool.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use metrics::{Counter, Histogram, counter, histogram};

use super::buckets::{Buckets, HandedOver};
use super::{CALL_SECONDS, CALLS_TOTAL, FAILURES_TOTAL, FailureKind, QUEUE_SECONDS, RUN_SECONDS, shared};
use crate::dispatch::Moment;
use crate::result::CallStatus;
use crate::shards::{Sharded, Tally};

/// What is counted of one tool. Made at registration; takes room only once the tool is called. What has not been
/// published is when it is dropped.
#[derive(Debug)]
pub(crate) struct ToolMetrics {
    provider: Arc<str>,
    tool: Arc<str>,
    counts: OnceLock<Box<Sharded<Counts>>>,
    published: Mutex<Option<Box<Published>>>,
}

/// The times of one call, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTimes {
    total: u64,
    /// Queue wait and run, where the tool was started.
    started: Option<(u64, u64)>,
}

/// What one worker has counted.
#[derive(Debug, Default)]
struct Counts {
    by_status: [Tally; CallStatus::ALL.len()],
    call: Buckets,
    run: Buckets,
    queue: Buckets,
}

/// What the recorder knows.
#[derive(Debug)]
struct Published {
    by_status: [(u64, Option<Counter>); CallStatus::ALL.len()],
    call: (HandedOver, Histogram),
    run: (HandedOver, Histogram),
    queue: (HandedOver, Histogram),
}

// === impl CallTimes ===

impl CallTimes {
    /// Of a call whose tool was entered then, if at all, and which ended then.
    pub(crate) fn of(entered: Option<Moment>, ended: Moment) -> Self {
        let start = Moment::default();
        let started = entered.map(|entered| (entered.nanos_since(start), ended.nanos_since(entered)));
        Self { total: ended.nanos_since(start), started }
    }
}

// === impl ToolMetrics ===

impl ToolMetrics {
    pub(crate) fn new(provider: Arc<str>, tool: Arc<str>) -> Self {
        Self { provider, tool, counts: OnceLock::new(), published: Mutex::default() }
    }

    #[inline]
    pub(crate) fn record(&self, status: CallStatus, times: CallTimes) {
        let (counts, writer) = self.counts.get_or_init(Box::default).mine();
        counts.by_status[status.index()].add(writer, 1);
        counts.call.record(writer, times.total);
        if let Some((queue, run)) = times.started {
            counts.queue.record(writer, queue);
            counts.run.record(writer, run);
        }
    }

    /// Failures are rare enough to be looked up.
    pub(crate) fn record_failure(&self, kind: FailureKind) {
        counter!(FAILURES_TOTAL, "provider" => shared(&self.provider), "kind" => kind.as_str()).increment(1);
    }

    /// Hands what was counted over to the recorder.
    pub(crate) fn publish(&self) {
        let Some(counts) = self.counts.get() else { return };
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        let published = &mut **published.get_or_insert_with(|| Box::new(self.unpublished()));
        for (status, (told, counter)) in CallStatus::ALL.into_iter().zip(&mut published.by_status) {
            let count =
                counts.all().fold(0, |sum: u64, counts| sum.wrapping_add(counts.by_status[status.index()].get()));
            if count != *told {
                counter.get_or_insert_with(|| self.counter(status)).increment(count.wrapping_sub(*told));
                *told = count;
            }
        }
        let Published { call, run, queue, .. } = published;
        call.0.catch_up(counts.all().map(|counts| &counts.call), &call.1);
        run.0.catch_up(counts.all().map(|counts| &counts.run), &run.1);
        queue.0.catch_up(counts.all().map(|counts| &counts.queue), &queue.1);
    }

    fn counter(&self, status: CallStatus) -> Counter {
        let (provider, tool) = (shared(&self.provider), shared(&self.tool));
        counter!(CALLS_TOTAL, "provider" => provider, "tool" => tool, "status" => status.as_str())
    }

    fn unpublished(&self) -> Published {
        let histogram =
            |name: &'static str| histogram!(name, "provider" => shared(&self.provider), "tool" => shared(&self.tool));
        Published {
            by_status: std::array::from_fn(|_| (0, None)),
            call: (HandedOver::default(), histogram(CALL_SECONDS)),
            run: (HandedOver::default(), histogram(RUN_SECONDS)),
            queue: (HandedOver::default(), histogram!(QUEUE_SECONDS, "provider" => shared(&self.provider))),
        }
    }
}

impl Drop for ToolMetrics {
    fn drop(&mut self) {
        self.publish();
    }
}

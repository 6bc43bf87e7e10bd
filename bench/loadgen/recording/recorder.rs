//! The recorder: what one thread has counted, one interval has brought, or the whole run has come to.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use toolyard::CallStatus;

use super::Sample;
use super::latency::{Latency, nanos, new_histogram};
use crate::target::Loss;

/// Counts and latencies of batches that are over.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub(crate) batches: u64,
    pub(crate) calls: u64,
    /// By [`CallStatus::index`].
    pub(crate) statuses: [u64; CallStatus::ALL.len()],
    /// Calls without a result, by reason; a closed set of reasons and codes, so it stays small.
    pub(crate) lost_calls: BTreeMap<Loss, u64>,
    /// Batches of which at least one call has no result.
    pub(crate) lost_batches: u64,
    /// Batches whose answer was not one result for each call in call order.
    pub(crate) violations: u64,
    /// Batches that were due and found no room.
    pub(crate) not_sent: u64,
    /// Of batches that have all their results.
    pub(crate) batch: Latency,
    /// Of their calls.
    pub(crate) call: Latency,
    /// How late batches were sent in an open loop, which is loadgen's own doing.
    pub(crate) late: Option<Histogram<u64>>,
}

/// Reasons beyond this many share the last one's place: a target that makes codes up must not fill the memory.
const MAX_REASONS: usize = 64;

// === impl Recorder ===

impl Recorder {
    pub(crate) fn new(is_open: bool) -> Self {
        Self {
            batches: 0,
            calls: 0,
            statuses: [0; CallStatus::ALL.len()],
            lost_calls: BTreeMap::new(),
            lost_batches: 0,
            violations: 0,
            not_sent: 0,
            batch: Latency::new(is_open),
            call: Latency::new(is_open),
            late: is_open.then(new_histogram),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batches == 0 && self.not_sent == 0
    }

    pub(super) fn record(&mut self, sample: &Sample<'_>) {
        self.batches += 1;
        self.calls += sample.ends.len() as u64;
        let (mut is_whole, mut is_violated) = (true, false);
        for end in sample.ends {
            match end.status {
                Ok(status) => self.statuses[status.index()] += 1,
                Err(loss) => {
                    is_whole = false;
                    is_violated |= loss == Loss::Violation;
                    self.count_lost(loss, 1);
                }
            }
        }
        self.lost_batches += u64::from(!is_whole);
        self.violations += u64::from(is_violated);
        let late = sample.sent.saturating_duration_since(sample.due);
        if let Some(lateness) = &mut self.late {
            lateness.saturating_record(nanos(late));
        }
        if is_whole {
            self.batch.record(sample.ended.saturating_duration_since(sample.sent), late);
            sample.ends.iter().for_each(|end| self.call.record(end.took, late));
        }
    }

    /// A batch without any result.
    pub(super) fn lose(&mut self, calls: u64, loss: Loss) {
        self.batches += 1;
        self.calls += calls;
        self.lost_batches += 1;
        self.count_lost(loss, calls);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.batches += other.batches;
        self.calls += other.calls;
        for (mine, theirs) in self.statuses.iter_mut().zip(other.statuses) {
            *mine += theirs;
        }
        other.lost_calls.iter().for_each(|(loss, calls)| self.count_lost(*loss, *calls));
        self.lost_batches += other.lost_batches;
        self.violations += other.violations;
        self.not_sent += other.not_sent;
        self.batch.add(&other.batch);
        self.call.add(&other.call);
        if let (Some(mine), Some(theirs)) = (&mut self.late, &other.late) {
            mine.add(theirs).ok();
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.batches, self.calls) = (0, 0);
        (self.lost_batches, self.violations, self.not_sent) = (0, 0, 0);
        self.statuses = [0; CallStatus::ALL.len()];
        self.lost_calls.clear();
        self.batch.clear();
        self.call.clear();
        if let Some(late) = &mut self.late {
            late.reset();
        }
    }

    /// Calls with this status.
    pub(crate) fn ended(&self, status: CallStatus) -> u64 {
        self.statuses[status.index()]
    }

    /// Calls without a result.
    pub(crate) fn lost(&self) -> u64 {
        self.lost_calls.values().sum()
    }

    /// Calls that did not end `ok`.
    pub(crate) fn errors(&self) -> u64 {
        self.calls.saturating_sub(self.ended(CallStatus::Ok))
    }

    fn count_lost(&mut self, loss: Loss, calls: u64) {
        let loss = if self.lost_calls.len() < MAX_REASONS || self.lost_calls.contains_key(&loss) {
            loss
        } else {
            Loss::Unreadable
        };
        *self.lost_calls.entry(loss).or_default() += calls;
    }
}

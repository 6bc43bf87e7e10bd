//! Recording: each thread counts into a recorder of its own, so that nobody who is measured waits for another.
//!
//! Every interval the collector swaps the recorders for empty ones, which takes nanoseconds under the lock, and adds up.

mod latency;
mod recorder;
mod series;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

pub(crate) use latency::Latency;
#[cfg(test)]
pub(crate) use latency::new_histogram;
pub(crate) use recorder::Recorder;
pub(crate) use series::Series;

use crate::target::{CallEnd, Loss};

/// A batch that is over.
#[derive(Debug)]
pub(crate) struct Sample<'w> {
    /// When it was due; in a closed loop, when it was sent.
    pub(crate) due: Instant,
    pub(crate) sent: Instant,
    pub(crate) ended: Instant,
    pub(crate) ends: &'w [CallEnd],
}

/// What has happened so far, apart from what is measured.
#[derive(Debug)]
pub(crate) struct Recording {
    shards: Vec<Mutex<Recorder>>,
    measured_from: Instant,
    is_open: bool,
    /// Batches and calls that were begun and have not ended; those of the warm-up too.
    batches_under_way: AtomicU64,
    warm_up_batches: AtomicU64,
    warm_up_calls: AtomicU64,
}

/// Counts a batch as under way until it is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay<'r> {
    recording: &'r Recording,
    calls: u64,
    is_measured: bool,
    is_over: bool,
}

thread_local! {
    static SHARD: std::cell::OnceCell<usize> = const { std::cell::OnceCell::new() };
}
static THREADS: AtomicUsize = AtomicUsize::new(0);

// === impl Recording ===

impl Recording {
    /// `threads` may record at once; batches that are due before `measured_from` are not measured.
    pub(crate) fn new(threads: usize, measured_from: Instant, is_open: bool) -> Self {
        Self {
            shards: (0..threads.max(1)).map(|_| Mutex::new(Recorder::new(is_open))).collect(),
            measured_from,
            is_open,
            batches_under_way: AtomicU64::new(0),
            warm_up_batches: AtomicU64::new(0),
            warm_up_calls: AtomicU64::new(0),
        }
    }

    pub(crate) fn measured_from(&self) -> Instant {
        self.measured_from
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// A batch of so many calls begins.
    pub(crate) fn begin(&self, calls: usize, due: Instant) -> UnderWay<'_> {
        let calls = calls as u64;
        self.batches_under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay { recording: self, calls, is_measured: due >= self.measured_from, is_over: false }
    }

    /// A batch that was due found no room.
    pub(crate) fn not_sent(&self, due: Instant) {
        if due >= self.measured_from {
            self.shard().not_sent += 1;
        }
    }

    pub(crate) fn batches_under_way(&self) -> u64 {
        self.batches_under_way.load(Ordering::Relaxed)
    }

    /// Batches and calls of the warm-up that ended.
    pub(crate) fn warm_up(&self) -> (u64, u64) {
        (self.warm_up_batches.load(Ordering::Relaxed), self.warm_up_calls.load(Ordering::Relaxed))
    }

    /// Adds what was recorded since the last time to `interval`; `spare` is empty before and after.
    pub(crate) fn take(&self, spare: &mut Recorder, interval: &mut Recorder) {
        for shard in &self.shards {
            std::mem::swap(&mut *shard.lock().unwrap_or_else(PoisonError::into_inner), spare);
            if !spare.is_empty() {
                interval.add(spare);
                spare.clear();
            }
        }
    }

    /// The recorder of this thread. Never held over an await.
    fn shard(&self) -> std::sync::MutexGuard<'_, Recorder> {
        let thread = SHARD.with(|shard| *shard.get_or_init(|| THREADS.fetch_add(1, Ordering::Relaxed)));
        self.shards[thread % self.shards.len()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl UnderWay ===

impl UnderWay<'_> {
    /// The batch is over.
    pub(crate) fn end(mut self, sample: &Sample<'_>) {
        self.is_over = true;
        if self.is_measured {
            self.recording.shard().record(sample);
        } else {
            self.recording.warm_up_batches.fetch_add(1, Ordering::Relaxed);
            self.recording.warm_up_calls.fetch_add(self.calls, Ordering::Relaxed);
        }
    }
}

impl Drop for UnderWay<'_> {
    /// A batch whose task was ended before it was over is lost.
    fn drop(&mut self) {
        self.recording.batches_under_way.fetch_sub(1, Ordering::Relaxed);
        if !self.is_over && self.is_measured {
            self.recording.shard().lose(self.calls, Loss::Abandoned);
        }
    }
}

#[cfg(test)]
mod tests;

//! Latencies: two histograms of the same batches or calls, as measured and corrected for coordinated omission.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Latencies below this cannot be told apart.
const LEAST_NS: u64 = 64;
/// Longer ones count as this.
const MOST_NS: u64 = 3_600_000_000_000;
/// Digits that are kept of each.
const DIGITS: u8 = 3;

/// Latencies of batches or calls.
#[derive(Clone, Debug)]
pub(crate) struct Latency {
    /// From sending to the end.
    pub(crate) raw: Histogram<u64>,
    /// In an open loop, from when the batch was due.
    pub(crate) from_due: Option<Histogram<u64>>,
}

/// An empty histogram from 64 ns to an hour, at three digits.
#[expect(clippy::expect_used, reason = "the bounds are constants that a test has tried")]
pub(crate) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(LEAST_NS, MOST_NS, DIGITS).expect("the bounds are legal")
}

// === impl Latency ===

impl Latency {
    pub(crate) fn new(is_open: bool) -> Self {
        Self { raw: new_histogram(), from_due: is_open.then(new_histogram) }
    }

    /// Records a latency, and how long before the batch was due.
    pub(super) fn record(&mut self, took: Duration, late: Duration) {
        self.raw.saturating_record(nanos(took));
        if let Some(from_due) = &mut self.from_due {
            from_due.saturating_record(nanos(took + late));
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        // Bounds are the same everywhere, so nothing can be out of them.
        self.raw.add(&other.raw).ok();
        if let (Some(mine), Some(theirs)) = (&mut self.from_due, &other.from_due) {
            mine.add(theirs).ok();
        }
    }

    pub(super) fn clear(&mut self) {
        self.raw.reset();
        if let Some(from_due) = &mut self.from_due {
            from_due.reset();
        }
    }

    /// What people who came at their own pace would have met with: from when batches were due in an open loop; in a closed
    /// one, with those put in that a session would have sent while it was held up.
    pub(crate) fn corrected(&self, expected_interval: Option<Duration>) -> Histogram<u64> {
        match (&self.from_due, expected_interval) {
            (Some(from_due), _) => from_due.clone(),
            (None, Some(interval)) => self.raw.clone_correct(nanos(interval).max(1)),
            (None, None) => self.raw.clone(),
        }
    }

    /// The one that stands for the latency where only one is shown.
    pub(crate) fn shown(&self) -> &Histogram<u64> {
        self.from_due.as_ref().unwrap_or(&self.raw)
    }
}

pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

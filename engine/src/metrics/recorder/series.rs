//! Series: the counts of one histogram.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::HistogramFn;

/// The counts of one histogram.
pub(super) struct Series {
    bounds: Arc<[f64]>,
    /// Of each bucket alone; one more than there are bounds.
    counts: Box<[AtomicU64]>,
    /// The bits of an `f64`.
    sum: AtomicU64,
}

/// What was counted at one moment.
pub(super) struct Snapshot {
    /// Of each bucket and all below it; the last one is of all samples.
    pub(super) cumulative: Vec<u64>,
    pub(super) sum: f64,
}

// === impl Series ===

impl Series {
    pub(super) fn new(bounds: &Arc<[f64]>) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds: Arc::clone(bounds), counts, sum: AtomicU64::new(0) }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let cumulative = counts.scan(0_u64, |below, count| {
            *below = below.saturating_add(count);
            Some(*below)
        });
        Snapshot { cumulative: cumulative.collect(), sum: f64::from_bits(self.sum.load(Ordering::Relaxed)) }
    }
}

impl HistogramFn for Series {
    fn record(&self, value: f64) {
        self.record_many(value, 1);
    }

    fn record_many(&self, value: f64, count: usize) {
        // What is no number is in no bucket, and a sum would never recover from it.
        if value.is_nan() || count == 0 {
            return;
        }
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        if let Some(bucket) = self.counts.get(bucket) {
            bucket.fetch_add(count as u64, Ordering::Relaxed);
        }
        let more = value * count as f64;
        let add = |sum| Some((f64::from_bits(sum) + more).to_bits());
        self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok();
    }
}

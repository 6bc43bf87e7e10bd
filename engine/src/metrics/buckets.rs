//! Buckets: a histogram that is counted into, and drained into the recorder's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use metrics::Histogram;

use super::LATENCY_BUCKETS_SECONDS;

const BUCKETS: usize = LATENCY_BUCKETS_SECONDS.len() + 1;

/// The upper bounds in nanoseconds.
const BOUNDS: [u64; LATENCY_BUCKETS_SECONDS.len()] = bounds();

/// Counts and sums by latency.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    buckets: [Bucket; BUCKETS],
}

#[derive(Debug, Default)]
struct Bucket {
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

// === impl Buckets ===

impl Buckets {
    pub(super) fn record(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let bucket = &self.buckets[BOUNDS.partition_point(|bound| *bound < nanoseconds)];
        bucket.count.fetch_add(1, Ordering::Relaxed);
        bucket.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Hands everything over: as many samples as were counted, each the mean of its bucket, so that the recorder's counts
    /// are exact and its sum is too.
    pub(super) fn drain_into(&self, histogram: &Histogram) {
        for bucket in &self.buckets {
            let count = bucket.count.swap(0, Ordering::Relaxed);
            let nanoseconds = bucket.nanoseconds.swap(0, Ordering::Relaxed);
            if count > 0 {
                let mean = Duration::from_nanos(nanoseconds).as_secs_f64() / count as f64;
                histogram.record_many(mean, usize::try_from(count).unwrap_or(usize::MAX));
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bounds are small and positive")]
const fn bounds() -> [u64; LATENCY_BUCKETS_SECONDS.len()] {
    let mut bounds = [0; LATENCY_BUCKETS_SECONDS.len()];
    let mut index = 0;
    while index < bounds.len() {
        bounds[index] = (LATENCY_BUCKETS_SECONDS[index] * 1e9 + 0.5) as u64;
        index += 1;
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_belongs_to_the_bucket_below_it() {
        let buckets = Buckets::default();
        for nanoseconds in [0, 10_000, 10_001, 300_000_000_000, 300_000_000_001] {
            buckets.record(Duration::from_nanos(nanoseconds));
        }
        let counts: Vec<u64> = buckets.buckets.iter().map(|bucket| bucket.count.load(Ordering::Relaxed)).collect();
        assert_eq!((counts[0], counts[1], counts[BUCKETS - 2], counts[BUCKETS - 1]), (2, 1, 1, 1));
    }
}

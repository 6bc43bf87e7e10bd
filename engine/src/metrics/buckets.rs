//! Buckets: a histogram that is counted into, and handed over to the recorder's.

use metrics::Histogram;

use super::LATENCY_BUCKETS_SECONDS;
use crate::shards::{Tally, Writer};

const BUCKETS: usize = LATENCY_BUCKETS_SECONDS.len() + 1;

/// The upper bounds in nanoseconds.
const BOUNDS: [u64; LATENCY_BUCKETS_SECONDS.len()] = bounds();

/// Counts and sums by latency. They only go up.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    buckets: [Bucket; BUCKETS],
}

#[derive(Debug, Default)]
struct Bucket {
    count: Tally,
    nanoseconds: Tally,
}

/// What of some buckets the recorder has been told.
#[derive(Debug, Default)]
pub(super) struct HandedOver {
    buckets: [(u64, u64); BUCKETS],
}

// === impl Buckets ===

impl Buckets {
    #[inline]
    pub(super) fn record(&self, writer: Writer, nanoseconds: u64) {
        let bucket = &self.buckets[place(nanoseconds)];
        bucket.count.add(writer, 1);
        bucket.nanoseconds.add(writer, nanoseconds);
    }
}

/// Most calls of a busy engine are in the first bucket.
fn place(nanoseconds: u64) -> usize {
    if nanoseconds <= BOUNDS[0] { 0 } else { BOUNDS.partition_point(|bound| *bound < nanoseconds) }
}

// === impl HandedOver ===

impl HandedOver {
    /// Tells the recorder what came to these buckets since it was told last: as many samples as were counted, each the mean
    /// of its bucket, so that the recorder's counts are exact and its sum is too.
    ///
    /// A sample may be seen before its time is: the mean stays within the bounds of its bucket, and what is left of the time
    /// comes with the next ones.
    pub(super) fn catch_up<'a>(&mut self, shards: impl Iterator<Item = &'a Buckets> + Clone, histogram: &Histogram) {
        for (place, (told, told_nanoseconds)) in self.buckets.iter_mut().enumerate() {
            let total = |value: fn(&Bucket) -> u64| {
                let values = shards.clone().map(|shard| value(&shard.buckets[place]));
                values.fold(0, u64::wrapping_add)
            };
            let count = total(|bucket| bucket.count.get()).wrapping_sub(*told);
            if count == 0 {
                continue;
            }
            let nanoseconds = total(|bucket| bucket.nanoseconds.get()).wrapping_sub(*told_nanoseconds).cast_signed();
            let (least, most) = (if place == 0 { 0 } else { BOUNDS[place - 1] + 1 }, BOUNDS.get(place));
            let mean =
                (nanoseconds as f64 / count as f64).clamp(least as f64, most.map_or(f64::MAX, |most| *most as f64));
            histogram.record_many(mean / 1e9, usize::try_from(count).unwrap_or(usize::MAX));
            *told = told.wrapping_add(count);
            *told_nanoseconds = told_nanoseconds.wrapping_add((mean * count as f64).round() as u64);
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
    use std::sync::{Arc, Mutex};

    use metrics::HistogramFn;

    use super::*;
    use crate::shards::Sharded;

    /// Keeps what it is told.
    #[derive(Default)]
    struct Told(Mutex<Vec<(f64, usize)>>);

    impl HistogramFn for Told {
        fn record(&self, value: f64) {
            self.record_many(value, 1);
        }

        fn record_many(&self, value: f64, count: usize) {
            self.0.lock().unwrap().push((value, count));
        }
    }

    #[test]
    fn a_value_on_a_bound_belongs_to_the_bucket_below_it() {
        let places = [0, 10_000, 10_001, 300_000_000_000, 300_000_000_001].map(place);
        assert_eq!(places, [0, 0, 1, BUCKETS - 2, BUCKETS - 1]);
    }

    #[test]
    fn the_recorder_is_told_every_sample_once_and_the_whole_sum() {
        let shards = Sharded::<Buckets>::default();
        let record = |nanoseconds| {
            let (buckets, writer) = shards.mine();
            buckets.record(writer, nanoseconds);
        };
        let told = Arc::new(Told::default());
        let histogram = Histogram::from_arc(Arc::clone(&told));
        let mut handed_over = HandedOver::default();
        [4_000, 8_000, 2_000_000].into_iter().for_each(record);
        handed_over.catch_up(shards.all(), &histogram);
        handed_over.catch_up(shards.all(), &histogram);
        record(6_000);
        handed_over.catch_up(shards.all(), &histogram);
        let close = |(value, count): &(f64, usize), expected: (f64, usize)| {
            (value - expected.0).abs() < 1e-12 && *count == expected.1
        };
        let told = told.0.lock().unwrap();
        let expected = [(6e-6, 2), (2e-3, 1), (6e-6, 1)];
        assert!(told.len() == 3 && told.iter().zip(expected).all(|(one, other)| close(one, other)), "{told:?}");
    }

    #[test]
    fn a_time_that_is_seen_before_its_sample_moves_no_sample_to_another_bucket() {
        let shards = Sharded::<Buckets>::default();
        let (buckets, writer) = shards.mine();
        buckets.record(writer, 9_000);
        // The second sample's time is there, its count is not yet.
        buckets.buckets[0].nanoseconds.add(writer, 9_000);
        let told = Arc::new(Told::default());
        let histogram = Histogram::from_arc(Arc::clone(&told));
        let mut handed_over = HandedOver::default();
        handed_over.catch_up(shards.all(), &histogram);
        buckets.buckets[0].count.add(writer, 1);
        handed_over.catch_up(shards.all(), &histogram);
        let told = told.0.lock().unwrap();
        assert!(told.iter().all(|(value, count)| *value <= 10e-6 && *count == 1), "{told:?}");
        let sum: f64 = told.iter().map(|(value, _)| value).sum();
        assert!((sum - 18e-6).abs() < 1e-12, "{sum}");
    }
}

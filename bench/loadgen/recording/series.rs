//! The series: the run as it went, one point an interval. Points are few and small, however long the run is.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::latency::new_histogram;
use super::recorder::Recorder;

/// Points that a run is divided into, about.
const POINTS: f64 = 60.0;
/// No more are kept, however long batches under way are waited for.
const MAX_POINTS: usize = 240;
const SHORTEST: Duration = Duration::from_millis(100);

/// The run as it went.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) total: Recorder,
    pub(crate) points: Vec<Point>,
    /// One for each phase.
    pub(crate) phases: Vec<PhaseTotal>,
}

/// One interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Point {
    /// Seconds from the start of measuring to the end of the interval.
    pub(crate) at_s: f64,
    /// How long it was.
    pub(crate) seconds: f64,
    pub(crate) batches: u64,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) under_way: u64,
    /// Of batches, in milliseconds.
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

/// What one phase came to, to the interval.
#[derive(Clone, Debug)]
pub(crate) struct PhaseTotal {
    pub(crate) name: String,
    /// Seconds from the start of measuring.
    pub(crate) until_s: f64,
    pub(crate) seconds: f64,
    pub(crate) batches: u64,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) batch: Histogram<u64>,
}

// === impl Series ===

impl Series {
    /// `phases` are names and ends, in seconds from the start of measuring.
    pub(crate) fn new(is_open: bool, phases: Vec<(String, f64)>) -> Self {
        let phase = |(name, until_s)| PhaseTotal {
            name,
            until_s,
            seconds: 0.0,
            batches: 0,
            calls: 0,
            errors: 0,
            batch: new_histogram(),
        };
        Self { total: Recorder::new(is_open), points: Vec::new(), phases: phases.into_iter().map(phase).collect() }
    }

    /// How long one interval is in a run that measures for so long.
    pub(crate) fn interval(measured: Duration) -> Duration {
        let tenths = (measured.as_secs_f64() / POINTS * 10.0).ceil();
        Duration::from_secs_f64(tenths / 10.0).max(SHORTEST)
    }

    /// Adds an interval that ended at `at_s`. What ends after the last phase belongs to it.
    pub(crate) fn push(&mut self, at_s: f64, seconds: f64, under_way: u64, interval: &Recorder) {
        self.push_point(at_s, seconds, under_way, interval);
        self.push_unseen(at_s, seconds, interval);
    }

    /// The same without a point: an interval that is too short to say anything.
    pub(crate) fn push_unseen(&mut self, at_s: f64, seconds: f64, interval: &Recorder) {
        let middle = at_s - seconds / 2.0;
        let index = self.phases.iter().position(|phase| middle < phase.until_s);
        let index = index.unwrap_or(self.phases.len().saturating_sub(1));
        if let Some(phase) = self.phases.get_mut(index) {
            phase.seconds += seconds;
            phase.batches += interval.batches;
            phase.calls += interval.calls;
            phase.errors += interval.errors();
            phase.batch.add(interval.batch.shown()).ok();
        }
        self.total.add(interval);
    }

    fn push_point(&mut self, at_s: f64, seconds: f64, under_way: u64, interval: &Recorder) {
        if self.points.len() >= MAX_POINTS {
            return;
        }
        let shown = interval.batch.shown();
        let ms = |ns: u64| ns as f64 / 1e6;
        self.points.push(Point {
            at_s,
            seconds,
            batches: interval.batches,
            calls: interval.calls,
            errors: interval.errors(),
            under_way,
            p50_ms: ms(shown.value_at_quantile(0.5)),
            p99_ms: ms(shown.value_at_quantile(0.99)),
            max_ms: ms(shown.max()),
        });
    }
}

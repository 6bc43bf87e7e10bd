//! The timeline: how much load there is when, as straight lines. Sessions in a closed loop, batches a second in an open one.

use std::time::Duration;

use crate::scenario::{LoadKeys, PhaseKeys};

/// How much load there is when.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    lines: Vec<Line>,
    warm_up: f64,
}

/// Seconds from the start of the run, and the load at both ends.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: f64,
    to: f64,
    low: f64,
    high: f64,
}

// === impl Timeline ===

impl Timeline {
    /// The first phase begins with the warm-up; each later one ramps from the load of the one before.
    pub(crate) fn new(load: &LoadKeys, phases: &[PhaseKeys]) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        let (mut from, mut before) = (0.0, 0.0);
        for (index, phase) in phases.iter().enumerate() {
            let lasts = phase.duration_s + if index == 0 { load.warm_up_s } else { 0.0 };
            let (level, ramped) = (phase.level(load), from + phase.ramp_s);
            let ramp = Line { from, to: ramped, low: before, high: level };
            let rest = Line { from: ramped, to: from + lasts, low: level, high: level };
            lines.extend([ramp, rest].into_iter().filter(|line| line.to > line.from));
            (from, before) = (from + lasts, level);
        }
        Self { lines, warm_up: load.warm_up_s }
    }

    /// When measuring begins.
    pub(crate) fn warm_up(&self) -> Duration {
        Duration::from_secs_f64(self.warm_up)
    }

    /// When the load ends.
    pub(crate) fn end(&self) -> Duration {
        Duration::from_secs_f64(self.end_s())
    }

    fn end_s(&self) -> f64 {
        self.lines.last().map_or(0.0, |line| line.to)
    }

    /// When the load next is above `level`, from `time` on: `time` itself where it is now.
    pub(crate) fn above(&self, level: f64, time: Duration) -> Option<Duration> {
        let now = time.as_secs_f64();
        self.lines.iter().find_map(|line| line.above(level, now)).map(Duration::from_secs_f64)
    }

    /// When the load has summed up to `sum`: the arrival of batch `sum` at a rate.
    pub(crate) fn when_summed(&self, mut sum: f64) -> Option<Duration> {
        for line in &self.lines {
            if sum < line.sum() {
                return Some(Duration::from_secs_f64(line.from + line.time_of(sum)));
            }
            sum -= line.sum();
        }
        None
    }
}

// === impl Line ===

impl Line {
    fn sum(self) -> f64 {
        (self.to - self.from) * f64::midpoint(self.low, self.high)
    }

    fn slope(self) -> f64 {
        (self.high - self.low) / (self.to - self.from)
    }

    fn above(self, level: f64, now: f64) -> Option<f64> {
        if now >= self.to {
            return None;
        }
        let at = now.max(self.from);
        let slope = self.slope();
        if self.low + slope * (at - self.from) > level || (slope > 0.0 && self.low >= level) {
            return Some(at);
        }
        if slope <= 0.0 || self.high <= level {
            return None;
        }
        // A moment behind the crossing, where rounding leaves no doubt.
        Some((self.from + (level - self.low) / slope + 1e-9).max(at)).filter(|at| *at < self.to)
    }

    /// After which time the line has summed up to `sum`: the root of `slope/2·t² + low·t = sum`.
    fn time_of(self, sum: f64) -> f64 {
        let slope = self.slope();
        if slope.abs() < 1e-12 {
            return if self.low > 0.0 { sum / self.low } else { 0.0 };
        }
        let root = (self.low * self.low + 2.0 * slope * sum).max(0.0).sqrt();
        // This form of the root loses no digits where the slope is small.
        let below = self.low + root;
        if below > 0.0 { (2.0 * sum / below).min(self.to - self.from) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn timeline(load: &str) -> Timeline {
        let scenario = Scenario::parse(&format!("[target]\nkind = \"embedded\"\n{load}")).unwrap();
        Timeline::new(&scenario.load, &scenario.phases)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn about(time: Option<Duration>, expected: Duration) {
        let time = time.unwrap();
        assert!(time.abs_diff(expected) < Duration::from_micros(1), "{time:?} for {expected:?}");
    }

    #[test]
    fn batches_arrive_evenly_at_a_constant_rate_and_no_more_than_the_rate_says() {
        let timeline = timeline("[load]\nrate = 100\nduration_s = 2\n");
        about(timeline.when_summed(0.0), ms(0));
        about(timeline.when_summed(1.0), ms(10));
        about(timeline.when_summed(199.0), ms(1_990));
        assert_eq!(timeline.when_summed(200.0), None);
    }

    #[test]
    fn a_ramp_sums_up_to_half_and_its_arrivals_grow_denser() {
        let timeline = timeline("[load]\nrate = 100\nduration_s = 2\nramp_s = 1\n");
        // 50 t² batches until t.
        about(timeline.when_summed(50.0 * 0.25), ms(500));
        about(timeline.when_summed(50.0), ms(1_000));
        about(timeline.when_summed(149.0), ms(1_990));
        assert_eq!(timeline.when_summed(150.0), None);
    }

    #[test]
    fn sessions_begin_one_after_the_other_on_a_ramp_and_rest_when_there_are_to_be_fewer() {
        let phases = "[load]\nsessions = 10\nwarm_up_s = 1\n[[phases]]\nduration_s = 2\nramp_s = 1\n\
                      [[phases]]\nduration_s = 1\nsessions = 5\n[[phases]]\nduration_s = 2\nramp_s = 2\n";
        let timeline = timeline(phases);
        assert_eq!((timeline.warm_up(), timeline.end()), (ms(1_000), ms(6_000)));
        about(timeline.above(0.0, ms(0)), ms(0));
        about(timeline.above(5.0, ms(0)), ms(500));
        about(timeline.above(5.0, ms(700)), ms(700));
        // Ten sessions until 3 s, five until 4 s, then ten again within 2 s.
        about(timeline.above(7.0, ms(3_000)), ms(4_800));
        about(timeline.above(4.0, ms(3_500)), ms(3_500));
        assert_eq!(timeline.above(10.0, ms(0)), None);
        assert_eq!(timeline.above(0.0, ms(6_000)), None);
    }

    #[test]
    fn a_falling_rate_is_summed_up_too() {
        let phases =
            "[load]\nrate = 100\n[[phases]]\nduration_s = 1\n[[phases]]\nduration_s = 1\nramp_s = 1\nrate = 0\n";
        let timeline = timeline(phases);
        about(timeline.when_summed(100.0), ms(1_000));
        // 100 t - 50 t² = 37.5 at half a second.
        about(timeline.when_summed(137.5), ms(1_500));
        assert_eq!(timeline.when_summed(150.0), None);
    }
}

//! Arrivals: when the batches of an open loop are due, whatever becomes of earlier ones.

use std::time::Duration;

use super::timeline::Timeline;
use crate::scenario::Arrivals;

/// When batches are due, one after the other.
#[derive(Debug)]
pub(crate) struct Schedule {
    timeline: Timeline,
    arrivals: Arrivals,
    random: fastrand::Rng,
    /// What the rate has summed up to at the next arrival.
    sum: f64,
}

// === impl Schedule ===

impl Schedule {
    pub(crate) fn new(timeline: Timeline, arrivals: Arrivals, seed: u64) -> Self {
        Self { timeline, arrivals, random: fastrand::Rng::with_seed(seed), sum: 0.0 }
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let due = self.timeline.when_summed(self.sum)?;
        self.sum += match self.arrivals {
            Arrivals::Fixed => 1.0,
            // The time between two arrivals of a Poisson process, in units of the mean.
            Arrivals::Poisson => -(1.0 - self.random.f64()).ln(),
        };
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn schedule(arrivals: Arrivals, seed: u64) -> Vec<Duration> {
        let text = "[target]\nkind = \"embedded\"\n[load]\nrate = 500\nduration_s = 4\n";
        let scenario = Scenario::parse(text).unwrap();
        Schedule::new(Timeline::new(&scenario.load, &scenario.phases), arrivals, seed).collect()
    }

    #[test]
    fn fixed_arrivals_come_as_a_clock_ticks() {
        let due = schedule(Arrivals::Fixed, 1);
        assert_eq!(due.len(), 2_000);
        for (index, due) in due.iter().enumerate() {
            let expected = Duration::from_millis(2 * index as u64);
            assert!(due.abs_diff(expected) < Duration::from_micros(1), "{index}: {due:?}");
        }
    }

    #[test]
    fn chance_arrivals_have_the_rate_and_the_spread_of_a_poisson_process() {
        let due = schedule(Arrivals::Poisson, 1);
        // 2,000 on average, with a standard deviation of 45.
        assert!((1_820..2_180).contains(&due.len()), "{}", due.len());
        let gaps: Vec<f64> = due.windows(2).map(|two| (two[1] - two[0]).as_secs_f64() * 1e3).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Gaps of a Poisson process deviate by as much as they are long.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.1, "{mean} {variance}");
    }

    #[test]
    fn one_seed_gives_one_schedule_and_another_seed_another() {
        assert_eq!(schedule(Arrivals::Poisson, 3), schedule(Arrivals::Poisson, 3));
        assert_ne!(schedule(Arrivals::Poisson, 3), schedule(Arrivals::Poisson, 4));
    }
}

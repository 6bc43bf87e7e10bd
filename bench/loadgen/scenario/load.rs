//! `[load]` and `[[phases]]`: how much, how long, and in which loop.

use std::time::Duration;

use serde::Deserialize;

use super::reader::Reader;

const SECTION: &str = "load";
const DAY_S: f64 = 86_400.0;

/// How much load, for how long.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LoadKeys {
    /// Sessions. In a closed loop, each runs one batch after the other.
    pub(crate) sessions: u32,
    /// Batches a second that arrive whatever becomes of earlier ones: makes the loop open.
    pub(crate) rate: Option<f64>,
    /// How arrivals are spread in an open loop.
    pub(crate) arrivals: Arrivals,
    /// Batches under way at once in an open loop. Those that arrive beyond are not sent, and counted.
    pub(crate) max_outstanding: usize,
    /// How long is measured.
    pub(crate) duration_s: f64,
    /// How long the load runs before.
    pub(crate) warm_up_s: f64,
    /// How long it takes from nothing to the whole load; part of the time above.
    pub(crate) ramp_s: f64,
    /// Pause of a session between two batches of a closed loop.
    pub(crate) think_ms: f64,
    /// How often a session would begin a batch if the target never stalled, for correction in a closed loop.
    pub(crate) expected_interval_ms: Option<f64>,
    /// Deadline of every batch.
    pub(crate) deadline_ms: u64,
    /// Whether batches name a session.
    pub(crate) name_sessions: bool,
}

/// A part of the run with a load of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhaseKeys {
    pub(crate) name: Option<String>,
    pub(crate) duration_s: f64,
    /// From the load of the phase before to this one's; part of the duration.
    #[serde(default)]
    pub(crate) ramp_s: f64,
    pub(crate) sessions: Option<u32>,
    pub(crate) rate: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Arrivals {
    /// As a clock ticks.
    #[default]
    Fixed,
    /// By chance, as of many people who know nothing of each other.
    Poisson,
}

// === impl LoadKeys ===

impl Default for LoadKeys {
    fn default() -> Self {
        Self {
            sessions: 1,
            rate: None,
            arrivals: Arrivals::default(),
            max_outstanding: 1_000,
            duration_s: 10.0,
            warm_up_s: 0.0,
            ramp_s: 0.0,
            think_ms: 0.0,
            expected_interval_ms: None,
            deadline_ms: 30_000,
            name_sessions: true,
        }
    }
}

impl LoadKeys {
    pub(crate) fn is_open(&self) -> bool {
        self.rate.is_some()
    }

    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    /// The interval by which a closed loop is corrected, where there is one: as stated, else what a session takes that
    /// thinks and whose batches take as long as they do in the middle.
    pub(crate) fn expected_interval(&self, middle: Duration) -> Option<Duration> {
        let millis = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        match self.expected_interval_ms {
            _ if self.is_open() => None,
            Some(stated) => Some(millis(stated)),
            None => (self.think_ms > 0.0).then(|| millis(self.think_ms) + middle),
        }
    }

    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        reader.within(SECTION, "sessions", f64::from(self.sessions), 1.0, 100_000.0);
        reader.within(SECTION, "rate", self.rate.unwrap_or(1.0), 0.001, 1_000_000.0);
        reader.within(SECTION, "max_outstanding", self.max_outstanding as f64, 1.0, 1_000_000.0);
        reader.within(SECTION, "duration_s", self.duration_s, 0.1, DAY_S);
        reader.within(SECTION, "warm_up_s", self.warm_up_s, 0.0, DAY_S);
        reader.within(SECTION, "ramp_s", self.ramp_s, 0.0, self.duration_s + self.warm_up_s);
        reader.within(SECTION, "think_ms", self.think_ms, 0.0, 600_000.0);
        reader.within(SECTION, "deadline_ms", self.deadline_ms as f64, 1.0, 3_600_000.0);
        if let Some(interval) = self.expected_interval_ms {
            reader.within(SECTION, "expected_interval_ms", interval, 0.1, 600_000.0);
        }
        let of_closed =
            [("think_ms", self.think_ms > 0.0), ("expected_interval_ms", self.expected_interval_ms.is_some())];
        for (key, is_given) in of_closed {
            if self.is_open() && is_given {
                reader.fault(SECTION, key, "means nothing in an open loop (with `rate`)".to_owned());
            }
        }
    }

    /// The phases as given, or the one that the load is by itself.
    pub(super) fn phases(&self, given: Vec<PhaseKeys>, reader: &mut Reader<'_>) -> Vec<PhaseKeys> {
        if given.is_empty() {
            let Self { sessions, rate, duration_s, ramp_s, .. } = *self;
            return vec![PhaseKeys { name: None, duration_s, ramp_s, sessions: Some(sessions), rate }];
        }
        for key in ["duration_s", "ramp_s"] {
            if reader.has(SECTION, key) {
                reader.fault(SECTION, key, "stands in `[[phases]]` where there are any".to_owned());
            }
        }
        for (index, phase) in given.iter().enumerate() {
            phase.check(&format!("phases/{index}"), self, reader);
        }
        given
    }
}

// === impl PhaseKeys ===

impl PhaseKeys {
    /// Sessions, or batches a second.
    pub(crate) fn level(&self, load: &LoadKeys) -> f64 {
        if load.is_open() {
            self.rate.or(load.rate).unwrap_or_default()
        } else {
            f64::from(self.sessions.unwrap_or(load.sessions))
        }
    }

    fn check(&self, section: &str, load: &LoadKeys, reader: &mut Reader<'_>) {
        reader.within(section, "duration_s", self.duration_s, 0.1, DAY_S);
        reader.within(section, "ramp_s", self.ramp_s, 0.0, self.duration_s);
        match (self.sessions, self.rate, load.is_open()) {
            (Some(_), _, true) => {
                reader.fault(section, "sessions", "an open loop (`rate` in `[load]`) varies its `rate`".to_owned());
            }
            (_, Some(_), false) => {
                reader.fault(section, "rate", "give `rate` in `[load]` too: that makes the loop open".to_owned());
            }
            _ => {}
        }
        reader.within(section, "rate", self.rate.unwrap_or(1.0), 0.0, 1_000_000.0);
        reader.within(section, "sessions", f64::from(self.sessions.unwrap_or(1)), 0.0, 100_000.0);
    }
}

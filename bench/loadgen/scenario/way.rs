//! Ways: how a call of a tool goes, and how one that varies is imitated by tools that do not.

use std::time::Duration;

use serde::Deserialize;

use super::reader::Reader;

/// Steps by which a daemon's tools, whose latency is fixed, imitate one that varies.
const STEPS: u32 = 8;

/// One way in which calls go.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct MixKeys {
    pub(super) weight: Option<u32>,
    ms: Option<f64>,
    min_ms: Option<f64>,
    max_ms: Option<f64>,
    mean_ms: Option<f64>,
    deviation_ms: Option<f64>,
    cpu_us: f64,
    end: End,
}

/// How a call goes: it waits, it computes, it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Way {
    pub(crate) wait: Wait,
    pub(crate) cpu: Duration,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Wait {
    #[default]
    None,
    Fixed(Duration),
    /// Between the two, each time as likely as another.
    Uniform(Duration, Duration),
    /// Mean and standard deviation; never below zero.
    Normal(Duration, Duration),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum End {
    #[default]
    Ok,
    /// The tool fails: `tool_error`.
    Error,
    /// The provider breaks: `tool_error`, and a failure for its breaker.
    Break,
    /// The tool panics; embedded only.
    Panic,
    /// It never ends: `timeout`.
    Hang,
}

// === impl MixKeys ===

impl MixKeys {
    pub(super) fn way(&self, section: &str, is_remote: bool, reader: &mut Reader<'_>) -> Way {
        reader.within(section, "weight", f64::from(self.weight.unwrap_or(1)), 0.0, 1e6);
        reader.within(section, "cpu_us", self.cpu_us, 0.0, 1e6);
        let times = [
            ("ms", self.ms),
            ("min_ms", self.min_ms),
            ("max_ms", self.max_ms),
            ("mean_ms", self.mean_ms),
            ("deviation_ms", self.deviation_ms),
        ];
        for (key, time) in times {
            reader.within(section, key, time.unwrap_or_default(), 0.0, 600_000.0);
        }
        if is_remote && self.cpu_us > 0.0 {
            reader.fault(section, "cpu_us", "a daemon's scripted tools cannot compute".to_owned());
        }
        if is_remote && self.end == End::Panic {
            reader.fault(section, "end", "only the embedded engine has tools that panic; try \"break\"".to_owned());
        }
        let millis = |ms: f64| Duration::from_secs_f64(ms.clamp(0.0, 600_000.0) / 1e3);
        let wait = match (self.ms, self.min_ms, self.max_ms, self.mean_ms, self.deviation_ms) {
            (None, None, None, None, None) => Wait::None,
            (Some(ms), None, None, None, None) => Wait::Fixed(millis(ms)),
            (None, Some(min), Some(max), None, None) if min <= max => Wait::Uniform(millis(min), millis(max)),
            (None, None, None, Some(mean), Some(deviation)) => Wait::Normal(millis(mean), millis(deviation)),
            _ => {
                let message = "give `ms`, or `min_ms` and a larger `max_ms`, or `mean_ms` and `deviation_ms`";
                reader.fault(section, "", message.to_owned());
                Wait::None
            }
        };
        Way { wait, cpu: Duration::from_nanos((self.cpu_us.clamp(0.0, 1e6) * 1e3) as u64), end: self.end }
    }
}

// === impl Way ===

impl Way {
    pub(super) fn in_steps(self) -> Vec<Self> {
        let middle = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
        let wait = |at: f64| match self.wait {
            Wait::Uniform(min, max) => min + (max - min).mul_f64(at),
            Wait::Normal(mean, deviation) => {
                let seconds = mean.as_secs_f64() + normal_quantile(at) * deviation.as_secs_f64();
                Duration::from_secs_f64(seconds.max(0.0))
            }
            Wait::None | Wait::Fixed(_) => Duration::ZERO,
        };
        match self.wait {
            Wait::None | Wait::Fixed(_) => vec![self],
            Wait::Uniform(..) | Wait::Normal(..) => {
                (0..STEPS).map(|step| Self { wait: Wait::Fixed(wait(middle(step))), ..self }).collect()
            }
        }
    }
}

// === impl Wait ===

impl Wait {
    /// How long this call waits.
    pub(crate) fn draw(self, random: &mut fastrand::Rng) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Fixed(time) => time,
            Self::Uniform(min, max) => min + (max - min).mul_f64(random.f64()),
            Self::Normal(mean, deviation) => {
                // 0 and 1 themselves have no finite place.
                let at = random.f64().clamp(1e-9, 1.0 - 1e-9);
                let seconds = mean.as_secs_f64() + normal_quantile(at) * deviation.as_secs_f64();
                Duration::from_secs_f64(seconds.max(0.0))
            }
        }
    }
}

/// Where a standard normal variable has `at` of its weight below; by halving, to a thousandth.
fn normal_quantile(at: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    while high - low > 1e-3 {
        let middle = f64::midpoint(low, high);
        if normal_share(middle) < at { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Share of a standard normal variable below `x` (Abramowitz and Stegun 26.2.17, good to 7.5e-8).
fn normal_share(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let terms = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    let above = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum;
    if x >= 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_variable_has_its_known_quantiles() {
        for (at, expected) in [(0.5, 0.0), (0.975, 1.96), (0.025, -1.96), (0.841_34, 1.0)] {
            assert!((normal_quantile(at) - expected).abs() < 2e-3, "{at}: {}", normal_quantile(at));
        }
    }

    #[test]
    fn steps_of_a_varying_latency_keep_its_mean_and_drawn_ones_too() {
        let ms = Duration::from_millis;
        for (wait, mean) in [(Wait::Uniform(ms(10), ms(50)), 30.0), (Wait::Normal(ms(40), ms(5)), 40.0)] {
            let steps = Way { wait, ..Way::default() }.in_steps();
            assert_eq!(steps.len(), 8);
            let mut random = fastrand::Rng::with_seed(7);
            let of_steps = steps.iter().map(|way| way.wait.draw(&mut random).as_secs_f64()).sum::<f64>() / 8.0;
            let drawn = (0..4_000).map(|_| wait.draw(&mut random).as_secs_f64()).sum::<f64>() / 4_000.0;
            for found in [of_steps, drawn] {
                assert!((found * 1e3 - mean).abs() < 1.0, "{wait:?}: {found}");
            }
        }
    }
}

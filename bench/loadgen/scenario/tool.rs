//! `[[tools]]`: what is called, and how its calls go.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use toolyard::ExecutionClass;

use super::reader::Reader;

/// A tool as it stands in the scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolKeys {
    pub(super) name: String,
    /// The provider that has it.
    #[serde(default = "default_provider")]
    pub(super) provider: String,
    /// How its calls are run.
    #[serde(default = "default_class")]
    pub(super) class: ToolClass,
    /// How often it is called, beside the others of its batch.
    #[serde(default = "one")]
    pub(super) weight: u32,
    /// Arguments of every call.
    pub(super) arguments: Option<Value>,
    /// So many bytes of text are added to the arguments, as `padding`.
    #[serde(default)]
    pub(super) padding_bytes: usize,
    /// Its own deadline.
    pub(super) timeout_ms: Option<u64>,
    /// How many of its calls run at once.
    pub(super) max_in_flight: Option<std::num::NonZeroUsize>,
    /// Whether the target has it already.
    #[serde(default)]
    pub(super) external: bool,
}

/// One way in which calls go.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct MixKeys {
    weight: Option<u32>,
    ms: Option<f64>,
    min_ms: Option<f64>,
    max_ms: Option<f64>,
    mean_ms: Option<f64>,
    deviation_ms: Option<f64>,
    cpu_us: f64,
    end: End,
}

/// A tool that calls can go to: one way of one tool of the scenario.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    /// The scenario's name for it; `_2`, `_3` … for its further ways.
    pub(crate) name: String,
    /// The name in the scenario.
    pub(crate) family: String,
    pub(crate) provider: String,
    pub(crate) class: ToolClass,
    /// How often it is called, beside the others of its batch.
    pub(crate) weight: f64,
    /// JSON text.
    pub(crate) arguments: String,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_in_flight: Option<std::num::NonZeroUsize>,
    pub(crate) external: bool,
    pub(crate) way: Way,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolClass {
    Io,
    Task,
    Inline,
}

fn default_provider() -> String {
    "load".to_owned()
}

fn default_class() -> ToolClass {
    ToolClass::Task
}

fn one() -> u32 {
    1
}

// === impl ToolClass ===

impl ToolClass {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Task => "task",
            Self::Inline => "inline",
        }
    }
}

impl From<ToolClass> for ExecutionClass {
    fn from(class: ToolClass) -> Self {
        match class {
            ToolClass::Io => Self::Io,
            ToolClass::Task => Self::Task,
            ToolClass::Inline => Self::Inline,
        }
    }
}

// === impl Tool ===

impl Tool {
    /// The tool of a scenario that names none: it does nothing.
    pub(super) fn nothing() -> Self {
        Self {
            name: "noop".to_owned(),
            family: "noop".to_owned(),
            provider: default_provider(),
            class: default_class(),
            weight: 1.0,
            arguments: "{}".to_owned(),
            timeout: None,
            max_in_flight: None,
            external: false,
            way: Way::default(),
        }
    }
}

// === impl ToolKeys ===

impl ToolKeys {
    /// The tools that it is made of: one for each way, since a daemon's tools have one way each.
    pub(super) fn tools(&self, section: &str, mix: &[MixKeys], is_remote: bool, reader: &mut Reader<'_>) -> Vec<Tool> {
        self.check(section, reader);
        if self.external && !mix.is_empty() {
            reader.fault(section, "mix", "what an external tool does is not ours to say".to_owned());
        }
        if self.external && !is_remote {
            reader.fault(section, "external", "the embedded engine has no tools but the scenario's".to_owned());
        }
        let sole = [MixKeys::default()];
        let mix = if mix.is_empty() { &sole } else { mix };
        let all: f64 = mix.iter().map(|keys| f64::from(keys.weight.unwrap_or(1))).sum();
        let ways = mix.iter().enumerate().flat_map(|(index, keys)| {
            let share = f64::from(keys.weight.unwrap_or(1)) / all;
            let way = keys.way(&format!("{section}/mix/{index}"), is_remote, reader);
            let ways = if is_remote { way.in_steps() } else { vec![way] };
            let steps = ways.len() as f64;
            ways.into_iter().map(move |way| (share / steps, way))
        });
        let ways: Vec<(f64, Way)> = ways.filter(|(share, _)| *share > 0.0).collect();
        if ways.is_empty() {
            reader.fault(section, "mix", "every weight is 0".to_owned());
        }
        ways.into_iter().enumerate().map(|(index, (share, way))| self.tool(index, share, way)).collect()
    }

    fn check(&self, section: &str, reader: &mut Reader<'_>) {
        let is_plain = |name: &str| {
            let bytes = || name.bytes();
            (1..=60).contains(&name.len()) && bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
        };
        for (key, name) in [("name", &self.name), ("provider", &self.provider)] {
            if !is_plain(name) {
                reader.fault(section, key, "must be 1 to 60 letters, digits, `_`, `-` and `.`".to_owned());
            }
        }
        if !self.arguments.as_ref().is_none_or(Value::is_object) {
            reader.fault(section, "arguments", "must be a table".to_owned());
        }
        reader.within(section, "weight", f64::from(self.weight), 0.0, 1e6);
        reader.within(section, "padding_bytes", self.padding_bytes as f64, 0.0, 1e6);
        reader.within(section, "timeout_ms", self.timeout_ms.unwrap_or(1) as f64, 1.0, 3_600_000.0);
    }

    fn tool(&self, index: usize, share: f64, way: Way) -> Tool {
        let name = if index == 0 { self.name.clone() } else { format!("{}_{}", self.name, index + 1) };
        let mut arguments = self.arguments.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        if let (Value::Object(members), 1..) = (&mut arguments, self.padding_bytes) {
            members.insert("padding".to_owned(), Value::String("x".repeat(self.padding_bytes)));
        }
        Tool {
            name,
            family: self.name.clone(),
            provider: self.provider.clone(),
            class: self.class,
            weight: f64::from(self.weight) * share,
            arguments: arguments.to_string(),
            timeout: self.timeout_ms.map(Duration::from_millis),
            max_in_flight: self.max_in_flight,
            external: self.external,
            way,
        }
    }
}

// === impl MixKeys ===

impl MixKeys {
    fn way(&self, section: &str, is_remote: bool, reader: &mut Reader<'_>) -> Way {
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

/// Steps by which a daemon's tools, whose latency is fixed, imitate one that varies.
const STEPS: u32 = 8;

impl Way {
    fn in_steps(self) -> Vec<Self> {
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

//! `[[tools]]`: what is called, and how its calls go.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use toolyard::ExecutionClass;

use super::reader::Reader;
use super::way::{MixKeys, Way};

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

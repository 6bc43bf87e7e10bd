//! The configuration of scripted tools.

use std::num::NonZeroUsize;

use serde::Deserialize;
use serde_json::Value;
use toolyard::{Effect, ExecutionClass, Visibility};

/// Scripted tools, as configured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedConfig {
    /// The tools.
    #[serde(default)]
    pub tools: Vec<ScriptedTool>,
}

/// One scripted tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedTool {
    /// Its name.
    pub name: String,
    /// Its description for the model.
    #[serde(default)]
    pub description: String,
    /// Its title for people.
    #[serde(default)]
    pub title: Option<String>,
    /// What it does to the world, as policy sees it: `read`, `write`, `money` or `public`. Undeclared where absent.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// JSON Schema of its arguments; any object where absent.
    #[serde(default)]
    pub parameters: Option<Value>,
    /// What a call gives back: `"echo"` for its arguments, or `{ fixed = … }`. Default echo.
    #[serde(default)]
    pub reply: Reply,
    /// How long a call takes, in milliseconds. Default 0.
    #[serde(default)]
    pub latency_ms: u64,
    /// Share of calls that fail, 0 to 1, spread evenly. Default 0.
    #[serde(default)]
    pub failure_rate: f64,
    /// Whether a failing call breaks the provider's protocol instead of reporting a failure. Default false.
    #[serde(default)]
    pub breaks: bool,
    /// How its calls are run. Default `task`.
    #[serde(default)]
    pub execution: Option<ExecutionClass>,
    /// Its own deadline, in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// How many of its calls may run at once.
    #[serde(default)]
    pub max_in_flight: Option<NonZeroUsize>,
    /// When a model sees it. Default visible.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    /// Whether its results count as text of third parties. Default false.
    #[serde(default)]
    pub untrusted: bool,
    /// Whether only a person may start it. Default false.
    #[serde(default)]
    pub user_only: bool,
    /// Whether it is offered once the model has loaded its provider. Default false.
    #[serde(default)]
    pub on_demand: bool,
    /// Whether it needs the message that asked for it. Default false.
    #[serde(default)]
    pub needs_source: bool,
}

/// What a call of a scripted tool gives back.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The arguments, unchanged.
    #[default]
    Echo,
    /// The same value for every call, read like any tool's result: an object may carry `content`,
    /// `stop_after_execution` and the rest.
    Fixed(Value),
}

/// What is wrong with the configuration of a scripted tool.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptedError {
    /// The failure rate is not a share.
    #[error("tools/{tool}/failure_rate: {rate} is not between 0 and 1")]
    FailureRate {
        /// The tool.
        tool: String,
        /// What was configured.
        rate: f64,
    },
}

// === impl ScriptedConfig ===

impl ScriptedConfig {
    pub(super) fn check(&self) -> Result<(), ScriptedError> {
        match self.tools.iter().find(|tool| !(0.0..=1.0).contains(&tool.failure_rate)) {
            None => Ok(()),
            Some(tool) => Err(ScriptedError::FailureRate { tool: tool.name.clone(), rate: tool.failure_rate }),
        }
    }
}

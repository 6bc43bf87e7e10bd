//! Report: what `plugin check` found, for people and as JSON.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use toolyard::{BatchOutcome, CallResult, Effect, ProviderState, Visibility};
use toolyard_providers::{Finding, SimulatedSend};

/// What was found. Its JSON only ever gains members.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) plugin: PluginReport,
    pub(super) tools: Vec<ToolReport>,
    pub(super) findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<CallReport>,
    /// What the plugin would have sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sent: Vec<SimulatedSend>,
}

#[derive(Debug, Serialize)]
pub(super) struct PluginReport {
    pub(super) dialect: &'static str,
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) state: ProviderState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// One tool, as a model sees it.
#[derive(Debug, Serialize)]
pub(super) struct ToolReport {
    pub(super) name: String,
    pub(super) model_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) visibility: Option<Visibility>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<Effect>,
    /// Why a model does not see it in this context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unavailable: Option<String>,
    pub(super) description: String,
    pub(super) parameters: Value,
}

/// What the call gave.
#[derive(Debug, Serialize)]
pub(super) struct CallReport {
    /// The text for the model.
    text: String,
    /// The tool asked to stop the run.
    stop: bool,
    pub(super) result: CallResult,
}

// === impl CallReport ===

impl CallReport {
    /// `None` cannot be: a batch of one call has one result.
    pub(super) fn new(outcome: BatchOutcome) -> Option<Self> {
        let stop = outcome.stop;
        let result = outcome.results.into_iter().next()?;
        Some(Self { text: result.history_content(), stop, result })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plugin = &self.plugin;
        write!(f, "{} plugin `{}` is {}", plugin.dialect, plugin.name, word(&plugin.state))?;
        match (&plugin.reason, self.tools.len()) {
            (Some(reason), _) => writeln!(f, ": {reason}")?,
            (None, 1) => writeln!(f, ", with 1 tool")?,
            (None, count) => writeln!(f, ", with {count} tools")?,
        }
        for tool in &self.tools {
            write!(f, "\n{tool}")?;
        }
        if !self.findings.is_empty() {
            writeln!(f, "\nFindings:")?;
        }
        for finding in &self.findings {
            writeln!(f, "  {finding}")?;
        }
        if let Some(call) = &self.call {
            write!(f, "\n{call}")?;
        }
        for sent in &self.sent {
            writeln!(f, "Would have sent {}: {}", sent.capability, sent.payload)?;
        }
        let is_well = plugin.reason.is_none() && self.call.as_ref().is_none_or(|call| call.result.error.is_none());
        if self.findings.is_empty() && is_well {
            writeln!(f, "\nNothing to find fault with.")?;
        }
        Ok(())
    }
}

impl fmt::Display for ToolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.model_name)?;
        if self.model_name != self.name {
            write!(f, " (its own name is {})", self.name)?;
        }
        if let Some(visibility) = &self.visibility {
            write!(f, ", {}", word(visibility))?;
        }
        if let Some(effect) = &self.effect {
            write!(f, ", effect {}", word(effect))?;
        }
        writeln!(f)?;
        if let Some(reason) = &self.unavailable {
            writeln!(f, "  not shown to a model here: {reason}")?;
        }
        for line in self.description.lines() {
            writeln!(f, "  {line}")?;
        }
        for line in serde_json::to_string_pretty(&self.parameters).unwrap_or_default().lines() {
            writeln!(f, "    {line}")?;
        }
        Ok(())
    }
}

impl fmt::Display for CallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, stop) = (&self.result, if self.stop { ", and asks to stop the run" } else { "" });
        writeln!(f, "{} gave {} after {} ms{stop}", call.tool, word(&call.status), call.duration.as_millis())?;
        writeln!(f, "Text for the model:")?;
        for line in self.text.lines() {
            writeln!(f, "  {line}")?;
        }
        if let Some(structured) = &call.result.structured_content {
            writeln!(f, "Structured content:\n  {}", structured.as_str())?;
        }
        for item in &call.result.content_items {
            let mime_type = item.mime_type.as_deref().unwrap_or("of no named type");
            writeln!(f, "Item: {} {mime_type}", item.content_type.as_str())?;
        }
        Ok(())
    }
}

/// The word of a state and the like in documents.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

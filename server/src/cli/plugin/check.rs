//! `toolyard plugin check`: loads a plugin, shows its tools as a model sees them, and says what could be better.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use toolyard::{
    DefinitionForm, ListedTool, ProviderState, RawArguments, ToolBatch, ToolCall, ToolExecutionContext, UnavailableTool,
};
use toolyard_providers::{DocumentFormat, Finding, FindingLevel, lint_document, lint_plugin, lint_result};

use super::report::{CallReport, PluginReport, Report, ToolReport};
use super::subject::{Running, Subject};
use super::{CliError, PluginDialect};
use crate::cli::input;
use crate::process::print;
use crate::telemetry::log_to_stderr;

/// Findings are errors.
const FOUND: u8 = 1;
/// The plugin was not loaded, or the call failed.
const FAILED: u8 = 2;

/// Loads a plugin as the daemon does, shows its tools and what could be better, and calls one of them.
///
/// The status is 0 when all is well, 1 when a finding is an error (with --strict also a warning), and 2 when the plugin
/// does not load or the call fails.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The plugin's folder, or the document of a declarative plugin.
    path: PathBuf,
    /// The Python that runs MaiBot's and LenBot's plugins.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
    /// A tool to call, by its own name or by the model's.
    #[arg(long, value_name = "TOOL")]
    call: Option<String>,
    /// Its arguments.
    #[arg(long, value_name = "JSON", default_value = "{}", requires = "call")]
    arguments: String,
    /// What differs in the context of the call, such as `{"group_id": ""}`.
    #[arg(long, value_name = "JSON")]
    context: Option<String>,
    /// Who answers what the plugin asks of the bot.
    #[arg(long, default_value = "simulate")]
    backend: BackendChoice,
    /// Further keys of the plugin's entry in the daemon's configuration.
    #[arg(long, value_name = "JSON")]
    options: Option<String>,
    /// Warnings count like errors.
    #[arg(long)]
    strict: bool,
    /// Prints one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

/// Who answers what a plugin asks of the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackendChoice {
    /// Plausible answers; nothing is sent anywhere.
    Simulate,
    /// Nobody: what needs the bot is unavailable.
    None,
}

// === impl Check ===

impl Check {
    pub(super) async fn run(self) -> Result<ExitCode, CliError> {
        // What the engine warns of stands in the report.
        log_to_stderr(Some("warn,toolyard=error,toolyard_providers::plugin::runner::provider=debug"));
        let subject = Subject::find(&self.path)?;
        let options = self.options.as_deref().map(|text| object("--options", text)).transpose()?.unwrap_or_default();
        let context = context(self.context.as_deref())?;
        let running = subject.start(&self.python, options, self.backend == BackendChoice::Simulate).await?;
        let report = self.report(&subject, &running, context).await;
        running.close().await;
        let report = report?;
        print(&if self.json { serde_json::to_string_pretty(&report)? } else { report.to_string() })?;
        Ok(ExitCode::from(self.status(&report)))
    }

    async fn report(
        &self,
        subject: &Subject,
        running: &Running,
        context: ToolExecutionContext,
    ) -> Result<Report, CliError> {
        let status = running.status().ok_or_else(|| CliError::Input("the plugin was not started".to_owned()))?;
        let unavailable = running.registry.unavailable_tools(&context);
        let mut all: Vec<ListedTool> = running.registry.list_tools(&context);
        all.extend(unavailable.iter().map(|unavailable| unavailable.tool.clone()));
        let document = running.hub.as_ref().and_then(|hub| hub.document(&subject.name));
        let mut findings = document_findings(subject)?;
        let is_told = |tool: &Option<String>| tool.is_some() && findings.iter().any(|finding| finding.tool == *tool);
        let found = lint_plugin(&status, &all, document.as_deref());
        let new: Vec<Finding> =
            found.into_iter().filter(|finding| finding.code != "tool.rejected" || !is_told(&finding.tool)).collect();
        findings.extend(new);
        let tools = tools(running, &context, &all, &unavailable);
        let call = match &self.call {
            Some(tool) if status.state == ProviderState::Up => self.call(running, tool, &all, context).await,
            _ => None,
        };
        if let Some(call) = &call {
            findings.extend(lint_result(subject.dialect.as_str(), &call.result));
        }
        Ok(Report {
            plugin: PluginReport {
                dialect: subject.dialect.as_str(),
                name: subject.name.clone(),
                path: self.path.clone(),
                state: status.state,
                reason: status.reason,
            },
            tools,
            findings,
            call,
            sent: running.simulated.as_ref().map(|host| host.sent()).unwrap_or_default(),
        })
    }

    async fn call(
        &self,
        running: &Running,
        tool: &str,
        all: &[ListedTool],
        context: ToolExecutionContext,
    ) -> Option<CallReport> {
        let is_meant = |listed: &&ListedTool| *listed.model_name == *tool || *listed.spec.name == *tool;
        let name = all.iter().find(is_meant).map_or(tool, |listed| &*listed.model_name);
        let call = ToolCall::new("call_1", name, RawArguments::text(self.arguments.as_str()));
        let batch = ToolBatch::new(vec![call]).with_context(Arc::new(context));
        let outcome = running.registry.dispatch(batch).await;
        CallReport::new(outcome)
    }

    fn status(&self, report: &Report) -> u8 {
        let has_failed = report.call.as_ref().is_some_and(|call| !call.result.is_success());
        if report.plugin.state != ProviderState::Up || has_failed {
            return FAILED;
        }
        let bad = if self.strict { FindingLevel::Warning } else { FindingLevel::Error };
        if report.findings.iter().any(|finding| finding.level >= bad) { FOUND } else { 0 }
    }
}

/// Every tool as a model sees it, and why it does not see some.
fn tools(
    running: &Running,
    context: &ToolExecutionContext,
    all: &[ListedTool],
    unavailable: &[UnavailableTool],
) -> Vec<ToolReport> {
    let definitions = running.registry.get_llm_definitions(context, DefinitionForm::OpenAiChat);
    let shown = |name: &str| -> Option<&Value> {
        definitions.as_array()?.iter().map(|tool| &tool["function"]).find(|function| function["name"] == name)
    };
    let of = |tool: &ListedTool| {
        let shown = shown(&tool.model_name);
        let own = || (tool.spec.description.clone(), tool.spec.parameters_schema.clone());
        let (description, parameters) = shown.map_or_else(own, |shown| {
            (shown["description"].as_str().unwrap_or_default().to_owned(), shown["parameters"].clone())
        });
        ToolReport {
            name: tool.spec.name.to_string(),
            model_name: tool.model_name.to_string(),
            visibility: tool.spec.visibility,
            effect: tool.spec.effect,
            unavailable: unavailable
                .iter()
                .find(|other| other.tool.model_name == tool.model_name)
                .map(|other| other.reason.message.to_string()),
            description,
            parameters,
        }
    };
    all.iter().map(of).collect()
}

fn document_findings(subject: &Subject) -> Result<Vec<Finding>, CliError> {
    match (subject.dialect, DocumentFormat::of(&subject.path)) {
        (PluginDialect::Http, Some(format)) => Ok(lint_document(&input::text(&subject.path)?, format)),
        _ => Ok(Vec::new()),
    }
}

/// A chat of a group, in which most tools can be used, with what differs in it.
fn context(changes: Option<&str>) -> Result<ToolExecutionContext, CliError> {
    let mut context = json!({
        "session_id": "check", "stream_id": "check", "platform": "qq", "is_group_chat": true, "group_id": "10001",
        "user_id": "10002", "channel": "cli", "chat_id": "check",
    });
    let changes = changes.map(|text| object("--context", text)).transpose()?.unwrap_or_default();
    if let Value::Object(members) = &mut context {
        members.extend(changes);
    }
    serde_json::from_value(context).map_err(|error| CliError::Input(format!("--context: {error}")))
}

fn object(flag: &str, text: &str) -> Result<Map<String, Value>, CliError> {
    serde_json::from_str(text).map_err(|error| CliError::Input(format!("{flag} must be a JSON object: {error}")))
}

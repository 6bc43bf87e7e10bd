//! `toolyard tools`: prints the definitions of the tools.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use toolyard::{DefinedTool, DefinitionForm, SessionKey, StrictMode, ToolExecutionContext, ToolQuery};

use super::CliError;
use super::reply::ToolArgs;
use super::starting::wait_until_started;
use crate::process::{print, say};
use crate::telemetry::log_to_stderr;

/// Tools that OpenAI takes in one request.
const OPENAI_MAX_TOOLS: usize = 128;

/// Prints the definitions of the tools.
#[derive(Debug, Args)]
pub(super) struct Tools {
    /// Form of the definitions: openai-chat, openai-strict, openai-responses, anthropic, gemini, gemini-schema, ollama,
    /// bedrock, mcp or native.
    #[arg(long, default_value = "native")]
    format: DefinitionForm,
    /// Whether OpenAI is asked to keep to the schema: off, auto (where it can be used as it is) or on (where it can be
    /// rewritten). Off where absent, on for openai-strict.
    #[arg(long)]
    strict: Option<StrictMode>,
    /// Prints what the definitions leave out, and their sizes, instead of the definitions.
    #[arg(long)]
    report: bool,
    /// Prints every tool as a model of the session would see it, or why it would not, with guides and catalogue.
    #[arg(long, conflicts_with = "report")]
    preview: bool,
    /// The session whose model it is; without one every tool counts as loaded. It begins here, and has loaded nothing.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The context as JSON, as in a request: {"group_id": …, "role": …}.
    #[arg(long, value_name = "JSON", value_parser = read_context)]
    context: Option<ToolExecutionContext>,
    #[command(flatten)]
    tools: ToolArgs,
}

/// What `--report` prints.
#[derive(Debug, Serialize)]
struct Report {
    format: &'static str,
    /// Tokens are estimated: one for four bytes of ASCII, and for each other character.
    tokens: usize,
    providers: BTreeMap<String, ProviderReport>,
}

#[derive(Debug, Default, Serialize)]
struct ProviderReport {
    tokens: usize,
    tools: Vec<DefinedTool>,
}

fn read_context(text: &str) -> Result<ToolExecutionContext, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

// === impl Tools ===

impl Tools {
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(Some("warn"));
        let app = self.tools.start(None).await?;
        wait_until_started(&app).await;
        let context = self.context.clone().unwrap_or_default();
        let session = self.session.as_deref();
        let session = session.map(|id| SessionKey { tenant: context.tenant.as_str().into(), session: id.into() });
        let query = ToolQuery { context: &context, session: session.as_ref() };
        if self.preview {
            let preview = app.registry.preview(query, self.format, self.strict);
            app.close(Duration::ZERO).await;
            return Ok(print(&serde_json::to_string_pretty(&preview)?)?);
        }
        let definitions = app.registry.define(query, self.format, self.strict);
        app.close(Duration::ZERO).await;
        if self.is_openai() && definitions.tools.len() > OPENAI_MAX_TOOLS {
            let count = definitions.tools.len();
            say(&format!("OpenAI takes at most {OPENAI_MAX_TOOLS} tools in one request; these are {count}"));
        }
        if self.report {
            print(&serde_json::to_string_pretty(&self.report(definitions.tools))?)?;
        } else {
            print(&serde_json::to_string_pretty(&definitions.document)?)?;
        }
        Ok(())
    }

    fn is_openai(&self) -> bool {
        use DefinitionForm::{OpenAiChat, OpenAiResponses, OpenAiStrict};
        matches!(self.format, OpenAiChat | OpenAiResponses | OpenAiStrict)
    }

    fn report(&self, tools: Vec<DefinedTool>) -> Report {
        let mut providers: BTreeMap<String, ProviderReport> = BTreeMap::new();
        for tool in tools {
            let provider = providers.entry(tool.provider.clone()).or_default();
            provider.tokens += tool.tokens;
            provider.tools.push(tool);
        }
        let tokens = providers.values().map(|provider| provider.tokens).sum();
        Report { format: self.format.as_str(), tokens, providers }
    }
}

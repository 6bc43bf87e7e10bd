//! `toolyard dispatch`: runs one model reply.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use toolyard::{Dialect, Profile, ProviderState, ToolBatch, ToolExecutionContext};

use super::{CliError, ConfigArgs, input};
use crate::app::App;
use crate::config::Config;
use crate::document::OutcomeDocument;
use crate::process::{print, say};
use crate::telemetry::log_to_stderr;

/// How long providers may take to start before the reply is run without them.
const START: Duration = Duration::from_secs(120);
/// How often people are told that something is still starting.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs one model reply and prints its outcome.
#[derive(Debug, Args)]
pub(super) struct Dispatch {
    /// The reply, as JSON; `-` for standard input.
    reply: PathBuf,
    /// Form of the reply: openai-chat, anthropic or native; told by its shape where absent.
    #[arg(long)]
    format: Option<Dialect>,
    /// Runs the reply against the tools of this file, {name, description, inputSchema} each; every tool only gives its
    /// arguments back.
    #[arg(long, value_name = "TOOLS.json", conflicts_with = "config")]
    echo_tools: Option<PathBuf>,
    /// How arguments are read: strict or lenient.
    #[arg(long, default_value = "lenient")]
    profile: Profile,
    /// Session and chat context, as JSON.
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    /// Time for the whole batch, in milliseconds.
    #[arg(long)]
    deadline_ms: Option<u64>,
    #[command(flatten)]
    config: ConfigArgs,
}

// === impl Dispatch ===

impl Dispatch {
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(Some("warn"));
        let text = input::text(&self.reply)?;
        let unusable = |error| CliError::Input(format!("{}: {error}", self.reply.display()));
        let dialect = match self.format {
            Some(dialect) => dialect,
            None => Dialect::detect(&text).map_err(unusable)?,
        };
        let parsed = dialect.parse(&text).map_err(unusable)?;
        let mut context: ToolExecutionContext = match &self.context {
            Some(path) => input::json(path)?,
            None => ToolExecutionContext::default(),
        };
        if context.reasoning.is_empty() {
            context.reasoning = parsed.reasoning;
        }
        let app = self.app().await?;
        wait_until_started(&app).await;
        let mut batch = ToolBatch::new(parsed.calls).with_context(Arc::new(context)).with_profile(self.profile);
        batch.deadline = self.deadline_ms.map(Duration::from_millis);
        let outcome = app.registry.dispatch(batch).await;
        app.close(Duration::ZERO).await;
        print(&serde_json::to_string_pretty(&OutcomeDocument::new(outcome, dialect))?)?;
        Ok(())
    }

    async fn app(&self) -> Result<App, CliError> {
        if let Some(path) = &self.echo_tools {
            let app = App::echoing(input::echo_tools(path)?).await?;
            for rejected in app.registry.providers().iter().flat_map(|provider| &provider.rejected) {
                say(&format!("tool `{}` is left out: {}", rejected.name, rejected.reason));
            }
            return Ok(app);
        }
        Ok(App::start(self.read_config()?).await?)
    }

    /// A configuration of the reply's own name beside it is used when no other is given.
    fn read_config(&self) -> Result<Config, CliError> {
        let beside = self.reply.with_extension("toml");
        if self.config.config.is_none() && self.reply != Path::new("-") && beside.is_file() {
            say(&format!("using the configuration {}", beside.display()));
            return Ok(Config::read(&beside)?);
        }
        Ok(self.config.read()?)
    }
}

/// Waits for the providers, and says which ones are still starting.
async fn wait_until_started(app: &App) {
    let deadline = tokio::time::Instant::now() + START;
    let starting = || {
        let providers = app.registry.providers().into_iter();
        providers.filter(|provider| provider.state == ProviderState::Starting).map(|p| p.name.to_string()).collect()
    };
    let mut names: Vec<String> = starting();
    if !names.is_empty() {
        say(&format!("starting {} (the first time may take a minute) …", names.join(", ")));
    }
    while !names.is_empty() && tokio::time::Instant::now() < deadline {
        app.registry.wait_started(PATIENCE).await;
        names = starting();
        if !names.is_empty() {
            say(&format!("still starting {} …", names.join(", ")));
        }
    }
    for provider in app.registry.providers() {
        if let (true, Some(reason)) = (provider.state != ProviderState::Up, &provider.reason) {
            say(&format!("provider {} is not up: {reason}", provider.name));
        }
    }
}

//! `toolyard tools`: prints the definitions of the tools.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use toolyard::{Dialect, ToolExecutionContext};

use super::{CliError, ConfigArgs, input};
use crate::app::App;
use crate::process::{print, say};
use crate::telemetry::log_to_stderr;

/// How long providers may take to start before the rest is printed.
const START: Duration = Duration::from_secs(120);

/// Prints the definitions of the tools.
#[derive(Debug, Args)]
pub(super) struct Tools {
    /// Form of the definitions: openai-chat, anthropic or native.
    #[arg(long, default_value = "native")]
    format: Dialect,
    /// Takes the tools of this file, {name, description, inputSchema} each, instead of a configuration's.
    #[arg(long, value_name = "TOOLS.json", conflicts_with = "config")]
    echo_tools: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

// === impl Tools ===

impl Tools {
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(Some("warn"));
        let app = match &self.echo_tools {
            Some(path) => App::echoing(input::echo_tools(path)?).await?,
            None => App::start(self.config.read()?).await?,
        };
        app.registry.wait_started(START).await;
        let definitions = app.registry.get_llm_definitions(&ToolExecutionContext::default(), self.format);
        for provider in app.registry.providers() {
            if let Some(reason) = &provider.reason {
                say(&format!("provider {}: {reason}", provider.name));
            }
            for rejected in &provider.rejected {
                say(&format!("tool {}.{} is left out: {}", provider.name, rejected.name, rejected.reason));
            }
            for warning in &provider.warnings {
                say(&format!("tool {}.{}: {}", provider.name, warning.name, warning.message));
            }
        }
        app.close(Duration::ZERO).await;
        print(&serde_json::to_string_pretty(&definitions)?)?;
        Ok(())
    }
}

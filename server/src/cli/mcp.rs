//! `toolyard mcp`: the tools for one MCP client, which starts the program and speaks to it over its standard streams.

use std::time::Duration;

use clap::Args;

use super::{CliError, ConfigArgs};
use crate::app::App;
use crate::telemetry::log_to_stderr;

/// Serves the tools to one MCP client over standard input and output.
#[derive(Debug, Args)]
pub(super) struct Mcp {
    #[command(flatten)]
    config: ConfigArgs,
}

// === impl Mcp ===

impl Mcp {
    /// Ends when the input does. Nothing but the protocol is written to standard output.
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(Some("warn"));
        let mut config = self.config.read()?;
        config.endpoint.enabled = true;
        let app = App::start(config).await?;
        if let Some(endpoint) = &app.endpoint {
            endpoint.serve_stdio().await;
        }
        app.close(Duration::ZERO).await;
        Ok(())
    }
}

//! `toolyard mcp`: the tools for one MCP client, which starts the program and speaks to it over its standard streams.

use std::time::Duration;

use clap::Args;

use super::{CliError, ConfigArgs};
use crate::api::stop_signal;
use crate::app::App;
use crate::telemetry::log_to_stderr;

/// Time for providers to start before the client is served. Those that take longer are told of when they are there.
const START: Duration = Duration::from_secs(10);

/// Serves the tools to one MCP client over standard input and output.
#[derive(Debug, Args)]
pub(super) struct Mcp {
    #[command(flatten)]
    config: ConfigArgs,
}

// === impl Mcp ===

impl Mcp {
    /// Ends when the input does, or at SIGTERM or Ctrl-C. Nothing but the protocol is written to standard output.
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(Some("warn"));
        let mut config = self.config.read()?;
        config.endpoint.enabled = true;
        let grace = config.server.shutdown_grace();
        let app = App::start(config).await?;
        app.registry.wait_started(START).await;
        if let Some(endpoint) = &app.endpoint {
            tokio::select! {
                () = endpoint.serve_stdio(grace) => {}
                () = stop_signal() => {}
            }
        }
        app.close(Duration::ZERO).await;
        Ok(())
    }
}

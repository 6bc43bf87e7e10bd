//! `toolyard serve`: the daemon.

use clap::Args;

use super::{CliError, ConfigArgs};
use crate::api;
use crate::app::App;
use crate::process::say;
use crate::telemetry::{Metrics, log_to_stderr};

/// Starts the daemon.
#[derive(Debug, Default, Args)]
pub(super) struct Serve {
    /// Where to listen, instead of the configured address.
    #[arg(long)]
    listen: Option<std::net::SocketAddr>,
    #[command(flatten)]
    config: ConfigArgs,
}

// === impl Serve ===

impl Serve {
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(None);
        let mut config = self.config.read()?;
        if let Some(listen) = self.listen {
            config.server.listen = listen;
            config.server.check().map_err(CliError::Input)?;
        }
        let server = config.server.clone();
        let metrics = Metrics::install().map_err(|error| CliError::Server(format!("metrics: {error}")))?;
        let listener = tokio::net::TcpListener::bind(server.listen)
            .await
            .map_err(|error| CliError::Server(format!("cannot listen on {}: {error}", server.listen)))?;
        let address = listener.local_addr().map_err(|error| CliError::Server(error.to_string()))?;
        let app = App::start(config).await?;
        welcome(address, self.config.config.is_none());
        api::serve(listener, app, metrics, &server).await.map_err(|error| CliError::Server(error.to_string()))
    }
}

fn welcome(address: std::net::SocketAddr, is_demo: bool) {
    say(&format!("Toolyard listens on http://{address}"));
    if !is_demo {
        return;
    }
    say("It runs demo tools, since no --config was given. Try next, in another terminal:");
    say(&format!("  curl http://{address}/v1/tools"));
    say(&format!(
        "  curl -X POST http://{address}/v1/batches -H 'content-type: application/json' \\\n    \
         -d '{{\"calls\": [{{\"call_id\": \"c1\", \"tool\": \"get_weather\", \"arguments\": {{\"city\": \"Oslo\"}}}}]}}'"
    ));
    say(&format!("  curl http://{address}/metrics"));
}

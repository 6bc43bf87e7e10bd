//! McpConnector: starts a server's process and opens the connection.

use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle};
use tokio::sync::Notify;
use toolyard::{ErrorCode, ProviderConnector, ProviderKind, ToolFailure, ToolProvider};

use super::KIND;
use super::client::{McpClient, Notifications};
use crate::process::{ChildProcess, CommandSpec, Spawner};

/// An MCP server, as configured.
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// The command that starts it.
    pub process: CommandSpec,
}

/// Makes connections to one MCP server.
#[derive(Debug)]
pub struct McpConnector {
    name: String,
    config: McpConfig,
    spawner: Arc<Spawner>,
}

// === impl McpConnector ===

impl McpConnector {
    /// A connector for the server `config` under the provider name `name`.
    pub fn new(name: impl Into<String>, config: McpConfig, spawner: Arc<Spawner>) -> Self {
        Self { name: name.into(), config, spawner }
    }

    async fn open(&self) -> Result<Arc<dyn ToolProvider>, ToolFailure> {
        let command = &self.config.process;
        let (child, pipes) = ChildProcess::start(&self.spawner, command).await.map_err(|error| {
            ToolFailure::not_sent(ErrorCode::ProviderDown, format!("`{}` cannot be started: {error}", command.command))
        })?;
        let changed = Arc::new(Notify::new());
        let handler = Notifications::new(Arc::clone(&changed));
        // A child that dies during the handshake says more than the handshake's own error.
        let opened = tokio::select! {
            biased;
            opened = serve_client_with_lifecycle(handler, pipes, ClientLifecycleMode::Initialize) => opened,
            reason = child.ended() => return Err(ToolFailure::not_sent(ErrorCode::ProviderDown, reason)),
        };
        match opened {
            Ok(service) => Ok(Arc::new(McpClient::new(&self.name, service, child, changed))),
            Err(error) => {
                let mut reason = format!("it did not complete the MCP handshake: {error}");
                if let Ok(end) = tokio::time::timeout(LAST_WORDS, child.ended()).await {
                    reason = format!("{reason}; {end}");
                }
                Err(ToolFailure::not_sent(ErrorCode::ProviderProtocol, reason))
            }
        }
    }
}

/// Time for a child that broke the handshake off to be found dead.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(500);

impl ProviderConnector for McpConnector {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>> {
        Box::pin(self.open())
    }
}

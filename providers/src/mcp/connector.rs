//! McpConnector: opens sessions with one MCP server.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{HostPort, NoHost, ProviderConnector, ProviderKind, ToolFailure, ToolProvider};

use super::KIND;
use super::client::McpClient;
use super::config::{McpConfig, McpTransport};
use super::era::EraMemory;
use super::hub::McpHub;
use super::session::{Opening, Session};
use super::stdio::StdioTransport;
use super::transport::{Inbox, Transport};
use crate::process::Spawner;

/// Makes connections to one MCP server.
pub struct McpConnector {
    name: Arc<str>,
    config: McpConfig,
    spawner: Arc<Spawner>,
    hub: McpHub,
    host: Arc<dyn HostPort>,
    memory: Arc<EraMemory>,
}

// === impl McpConnector ===

impl McpConnector {
    /// A connector for the server `config` under the provider name `name`, which takes part in `hub` while it is connected.
    pub fn new(name: impl Into<Arc<str>>, config: McpConfig, spawner: Arc<Spawner>, hub: McpHub) -> Self {
        let name = name.into();
        hub.declare(&name);
        let memory = Arc::new(EraMemory::new(config.options.era));
        Self { name, config, spawner, hub, host: Arc::new(NoHost), memory }
    }

    /// The same, asking `host` what the server asks on behalf of no call. Without it, such requests are refused.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn HostPort>) -> Self {
        self.host = host;
        self
    }

    async fn open(&self) -> Result<Arc<dyn ToolProvider>, ToolFailure> {
        let opening = Opening {
            provider: Arc::clone(&self.name),
            options: self.config.options.clone(),
            memory: Arc::clone(&self.memory),
            hub: self.hub.clone(),
            tenant: None,
            host: Arc::clone(&self.host),
        };
        let session = Session::open(opening, |inbox| self.dial(inbox)).await?;
        Ok(Arc::new(McpClient::new(session, &self.hub)))
    }

    async fn dial(&self, inbox: Arc<dyn Inbox>) -> Result<Arc<dyn Transport>, ToolFailure> {
        let limit = self.config.options.max_message_bytes;
        match &self.config.transport {
            McpTransport::Stdio(command) => {
                Ok(Arc::new(StdioTransport::start(&self.spawner, command, limit, inbox).await?))
            }
        }
    }
}

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

impl fmt::Debug for McpConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpConnector").field("name", &self.name).field("config", &self.config).finish_non_exhaustive()
    }
}

//! McpConnector: makes incarnations of one MCP server.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{ErrorCode, HostPort, NoHost, ProviderConnector, ProviderKind, ToolFailure, ToolProvider};

use super::client::McpClient;
use super::config::McpConfig;
use super::dialer::Dialer;
use super::pins::McpPins;
use crate::http::{Resolver, SystemResolver};
use crate::mcp::KIND;
use crate::mcp::era::EraMemory;
use crate::mcp::hub::McpHub;
use crate::process::Spawner;

/// Makes connections to one MCP server.
pub struct McpConnector {
    dialer: Dialer,
    pins: McpPins,
}

// === impl McpConnector ===

impl McpConnector {
    /// A connector for the server `config` under the provider name `name`, which takes part in `hub` while it is connected.
    /// Its pins are forgotten when the connector is dropped: see [`McpConnector::with_pins`].
    pub fn new(name: impl Into<Arc<str>>, config: McpConfig, spawner: Arc<Spawner>, hub: McpHub) -> Self {
        let name = name.into();
        hub.declare(&name);
        let memory = Arc::new(EraMemory::new(config.options.era));
        let (host, resolver) = (Arc::new(NoHost), Arc::new(SystemResolver));
        let dialer = Dialer { name, config: Arc::new(config), spawner, hub, host, memory, resolver };
        Self { dialer, pins: McpPins::in_memory() }
    }

    /// The same, asking `host` what the server asks on behalf of no call. Without it, such requests are refused.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn HostPort>) -> Self {
        self.dialer.host = host;
        self
    }

    /// The same, comparing declarations with these pins.
    #[must_use]
    pub fn with_pins(mut self, pins: McpPins) -> Self {
        self.pins = pins;
        self
    }

    /// The same, finding addresses of host names in another way.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.dialer.resolver = resolver;
        self
    }

    async fn open(&self) -> Result<Arc<dyn ToolProvider>, ToolFailure> {
        let session = self.dialer.open(None).await?;
        let dialer = Some(self.dialer.clone());
        Ok(Arc::new(McpClient::new(session, &self.dialer.hub, dialer, self.pins.clone())))
    }
}

impl ProviderConnector for McpConnector {
    fn name(&self) -> &str {
        &self.dialer.name
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>> {
        Box::pin(self.open())
    }

    /// An address that is not allowed stays so, and a variable of this process that is not set stays away.
    fn mends_itself(&self, failure: &ToolFailure) -> bool {
        failure.code != ErrorCode::PolicyDenied && !self.dialer.config.has_unset_variables()
    }
}

impl fmt::Debug for McpConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpConnector").field(&self.dialer).finish()
    }
}

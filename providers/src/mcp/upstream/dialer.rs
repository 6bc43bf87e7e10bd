//! Dialer: opens sessions with one MCP server.

use std::fmt;
use std::sync::Arc;

use toolyard::{HostPort, ToolFailure};

use super::config::{McpConfig, McpTransport};
use super::http::HttpTransport;
use super::secrets::Secrets;
use super::session::{Opening, Session};
use super::stdio::StdioTransport;
use super::transport::{Inbox, Transport};
use crate::http::Resolver;
use crate::mcp::era::EraMemory;
use crate::mcp::hub::McpHub;
use crate::process::Spawner;

/// Opens sessions with one MCP server: the one that all share, and those of tenants.
#[derive(Clone)]
pub(super) struct Dialer {
    pub(super) name: Arc<str>,
    pub(super) config: Arc<McpConfig>,
    pub(super) spawner: Arc<Spawner>,
    pub(super) hub: McpHub,
    pub(super) host: Arc<dyn HostPort>,
    pub(super) memory: Arc<EraMemory>,
    pub(super) resolver: Arc<dyn Resolver>,
}

// === impl Dialer ===

impl Dialer {
    /// Opens a session, for this tenant or for all.
    ///
    /// # Errors
    /// There is no way to the server, or it does not complete the handshake.
    pub(super) async fn open(&self, tenant: Option<Arc<str>>) -> Result<Arc<Session>, ToolFailure> {
        let opening = Opening {
            provider: Arc::clone(&self.name),
            options: self.config.options.clone(),
            memory: Arc::clone(&self.memory),
            hub: self.hub.clone(),
            tenant,
            host: Arc::clone(&self.host),
            secrets: Secrets::of(&self.config),
        };
        Session::open(opening, |inbox| self.dial(inbox)).await
    }

    async fn dial(&self, inbox: Arc<dyn Inbox>) -> Result<Arc<dyn Transport>, ToolFailure> {
        let limit = self.config.options.max_message_bytes;
        match &self.config.transport {
            McpTransport::Stdio(command) => {
                let command = self.config.with_env(command)?;
                Ok(Arc::new(StdioTransport::start(&self.spawner, &command, limit, inbox).await?))
            }
            McpTransport::Http(service) => {
                Ok(Arc::new(HttpTransport::new(service, limit, Arc::clone(&self.resolver), inbox)?))
            }
        }
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("name", &self.name).field("config", &self.config).finish_non_exhaustive()
    }
}

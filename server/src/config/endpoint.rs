//! `[mcp]`: the MCP endpoint that the daemon serves.

use std::time::Duration;

use serde::Deserialize;
use toolyard::CallPolicy;
use toolyard_providers::McpEndpointConfig;

use super::{ProviderConfig, ServerConfig};

/// More than this cannot be told apart from a flood.
const MAX_SESSIONS: usize = 1 << 20;

/// The MCP endpoint.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EndpointConfig {
    /// Whether `/mcp` is served. Default true.
    pub(crate) enabled: bool,
    /// Sessions at a time. Default 1,024.
    max_sessions: usize,
    session_idle_ms: u64,
    /// Names by which the daemon may be called beside loopback ones.
    allowed_hosts: Vec<String>,
    /// Origins of pages that may use it.
    allowed_origins: Vec<String>,
    /// What clients are told of how to use the tools.
    instructions: Option<String>,
}

// === impl EndpointConfig ===

impl EndpointConfig {
    pub(super) fn check(&self) -> Result<(), String> {
        if (1..=MAX_SESSIONS).contains(&self.max_sessions) {
            return Ok(());
        }
        Err(format!("max_sessions: must be 1 to {MAX_SESSIONS}, not {}", self.max_sessions))
    }

    /// The endpoint's own configuration, with what the rest of the daemon's says.
    pub(crate) fn endpoint(
        &self,
        server: &ServerConfig,
        policy: CallPolicy,
        providers: &[ProviderConfig],
    ) -> McpEndpointConfig {
        let forms = providers.iter().map(|provider| (provider.name.clone(), provider.settings().name_form));
        McpEndpointConfig {
            max_sessions: self.max_sessions,
            session_idle: Duration::from_millis(self.session_idle_ms),
            max_requests: server.max_requests,
            max_body_bytes: server.max_body_bytes,
            allowed_hosts: self.allowed_hosts.clone(),
            allowed_origins: self.allowed_origins.clone(),
            instructions: self.instructions.clone(),
            policy,
            name_forms: forms.collect(),
            ..McpEndpointConfig::default()
        }
    }
}

impl Default for EndpointConfig {
    fn default() -> Self {
        let usual = McpEndpointConfig::default();
        Self {
            enabled: true,
            max_sessions: usual.max_sessions,
            session_idle_ms: 600_000,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            instructions: None,
        }
    }
}

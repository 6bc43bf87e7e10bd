//! MCP servers over standard input and output.
//!
//! One incarnation is one child process and one initialised connection; the engine starts the next one when it ends.

mod client;
mod connector;
mod endpoint;
mod hub;
#[expect(dead_code, reason = "the transports follow")]
mod transport;
mod wire;

use toolyard::ProviderKind;

pub use connector::{McpConfig, McpConnector};
pub use endpoint::{McpBody, McpEndpoint, McpEndpointConfig, McpHttp, McpPrincipal};
pub use hub::{McpEvent, McpEventKind, McpFeatures, McpHub, McpMembership, McpRefusal, McpRequest};

/// The kind of MCP providers.
pub const KIND: ProviderKind = ProviderKind::new("mcp");

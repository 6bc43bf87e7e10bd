//! MCP servers, as a client.
//!
//! One incarnation is one transport and one opened session; the engine starts the next one when it ends. The wire is our
//! own: definitions, arguments and results stay the text that they came as, and what cannot be read costs its own request
//! or its own tool only.

mod bridge;
mod call;
mod client;
mod config;
mod connection;
mod connector;
mod endpoint;
mod envelope;
mod era;
mod features;
mod handshake;
mod hub;
mod listing;
mod log;
mod rounds;
mod session;
mod stdio;
mod subscription;
#[cfg(test)]
mod tests;
#[allow(dead_code, reason = "what HTTP needs follows")]
mod transport;

use toolyard::ProviderKind;

pub use config::{McpConfig, McpEra, McpOffer, McpOptions, McpRoot, McpTransport};
pub use connection::describe_mcp_metrics;
pub use connector::McpConnector;
pub use endpoint::{McpBody, McpEndpoint, McpEndpointConfig, McpHttp, McpPrincipal};
pub use hub::{McpEvent, McpEventKind, McpFeatures, McpHub, McpMembership, McpRefusal, McpRequest};

/// The kind of MCP providers.
pub const KIND: ProviderKind = ProviderKind::new("mcp");

//! MCP servers, as a client.
//!
//! One incarnation is one transport and one opened session; the engine starts the next one when it ends. The wire is our
//! own: definitions, arguments and results stay the text that they came as, and what cannot be read costs its own request
//! or its own tool only.

mod bridge;
mod call;
mod canonical;
mod client;
mod config;
mod connection;
mod connector;
mod dialer;
mod endpoint;
mod envelope;
mod era;
mod features;
mod forward;
mod handshake;
mod http;
mod hub;
mod invisible;
mod listing;
mod log;
mod mirror;
mod pins;
mod rounds;
mod session;
mod sessions;
mod sse;
mod stdio;
mod subscription;
mod tenants;
#[cfg(test)]
mod tests;
mod tokens;
mod transport;
mod value;

use toolyard::ProviderKind;

pub use config::{McpConfig, McpEra, McpIsolation, McpOffer, McpOptions, McpRoot, McpTransport};
pub use connection::describe_mcp_metrics;
pub use connector::McpConnector;
pub use endpoint::{McpBody, McpEndpoint, McpEndpointConfig, McpHttp, McpPrincipal};
pub use forward::unforwardable;
pub use http::{McpHttpConfig, McpOAuth, McpOAuthClient, McpWay};
pub use hub::{McpEvent, McpEventKind, McpFeatures, McpHub, McpMembership, McpRefusal, McpRequest};
pub use pins::{McpPins, Pin, PinChange, PinError, PinPolicy, PinState, PinView};
pub use value::McpValue;

/// The kind of MCP providers.
pub const KIND: ProviderKind = ProviderKind::new("mcp");

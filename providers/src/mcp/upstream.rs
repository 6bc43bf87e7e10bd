//! The client side: MCP servers whose tools are used.
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
mod dialer;
mod failure;
mod features;
mod forward;
mod handshake;
mod http;
mod listing;
mod log;
mod mirror;
mod pins;
mod rounds;
mod secrets;
mod session;
mod sessions;
mod sse;
mod stdio;
mod subscription;
mod tenants;
#[cfg(test)]
mod tests;
mod transport;

pub use config::{McpConfig, McpEra, McpIsolation, McpOffer, McpOptions, McpRoot, McpTransport};
pub use connection::describe_mcp_metrics;
pub use connector::McpConnector;
pub use forward::unforwardable;
pub use http::{McpHttpConfig, McpOAuth, McpOAuthClient, McpWay};
pub use pins::{McpPins, Pin, PinChange, PinError, PinPolicy, PinState, PinView};
pub(super) use transport::Era;

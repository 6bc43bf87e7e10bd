//! MCP servers over standard input and output.
//!
//! One incarnation is one child process and one initialised connection; the engine starts the next one when it ends.

mod canonical;
mod client;
mod connector;
mod http;
mod hub;
mod invisible;
mod pins;
mod sessions;
mod sse;
mod tokens;
#[expect(dead_code, reason = "the transports follow")]
mod transport;
mod value;
mod wire;

use toolyard::ProviderKind;

pub use connector::{McpConfig, McpConnector};
pub use http::{McpHttpConfig, McpOAuth, McpOAuthClient, McpWay};
pub use hub::{McpEvent, McpEventKind, McpFeatures, McpHub, McpMembership, McpRefusal, McpRequest};
pub use pins::{McpPins, Pin, PinChange, PinError, PinPolicy, PinState, PinView};
pub use value::McpValue;

/// The kind of MCP providers.
pub const KIND: ProviderKind = ProviderKind::new("mcp");

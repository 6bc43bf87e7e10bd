//! MCP servers over standard input and output.
//!
//! One incarnation is one child process and one initialised connection; the engine starts the next one when it ends.

mod client;
mod connector;
mod wire;

use toolyard::ProviderKind;

pub use connector::{McpConfig, McpConnector};

/// The kind of MCP providers.
pub const KIND: ProviderKind = ProviderKind::new("mcp");

//! Tool providers for Toolyard, one folder a provider: built-in, scripted, MCP.
//!
//! Providers know the engine's traits; the engine knows none of them.
#![warn(missing_docs)]

mod builtin;
mod plugin;
mod process;
mod scripted;

#[cfg(feature = "mcp")]
mod mcp;

pub use builtin::builtin_provider;
pub use plugin::{XBOT_KIND, XbotConfig, XbotConnector};
pub use process::{CommandSpec, LAUNCH_COMMAND, Spawner, launch};
pub use scripted::{Reply, ScriptedConfig, ScriptedError, ScriptedTool, scripted_provider};

#[cfg(feature = "mcp")]
pub use mcp::{KIND as MCP_KIND, McpConfig, McpConnector};

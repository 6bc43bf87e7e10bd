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
pub use plugin::{
    CapabilityConfig, Claim, DefinitionSource, MAIBOT_KIND, MaiBotConfig, PluginConnector, PluginControl, PluginHost,
    PluginHub, RunnerConfig, SimulateError, SimulatedHost, SimulatedSend, ToolDefinition, Version,
};
pub use process::{CommandSpec, LAUNCH_COMMAND, ProcessLimits, RunAs, Spawner, launch};
pub use scripted::{Reply, ScriptedConfig, ScriptedError, ScriptedTool, scripted_provider};

#[cfg(feature = "mcp")]
pub use mcp::{KIND as MCP_KIND, McpConfig, McpConnector};

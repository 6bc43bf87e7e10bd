//! Plugins: programs of other people, each in a process of its own.

#[allow(dead_code, reason = "the rest of the module uses it")]
pub(crate) mod capability;

pub use capability::{
    CapabilityConfig, CapabilityDesk, DefinitionSource, PluginControl, PluginHub, SimulateError, SimulatedHost,
    SimulatedSend, ToolDefinition,
};

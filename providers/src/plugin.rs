//! Plugins of MaiBot and LenBot, each in a process of its own.
//!
//! A connector reads the plugin's manifest, starts its runner and loads it; one incarnation is one process. What differs
//! between the two kinds of plugins is behind [`dialect::Dialect`].

mod capability;
mod dialect;
mod host;
mod lenbot;
mod maibot;
mod runner;
mod wire;
mod xbot;

pub use capability::{
    CapabilityConfig, DefinitionSource, PluginControl, PluginHub, SimulateError, SimulatedHost, SimulatedSend,
    ToolDefinition,
};
pub use host::PluginHost;
pub use lenbot::{KIND as LENBOT_KIND, LenBotConfig};
pub use maibot::{Claim, KIND as MAIBOT_KIND, MaiBotConfig, Version};
pub(crate) use maibot::{HandlerFault, STOP_NOT_BOOLEAN, faults_of};
pub use runner::{PluginConnector, PluginLogLevel, RunnerConfig, describe_plugin_metrics};
pub use xbot::{KIND as XBOT_KIND, XbotConfig, XbotConnector};

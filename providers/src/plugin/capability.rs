//! Answers to what plugins ask of their host: MaiBot's capabilities, and the names of other dialects beside them.
//!
//! [`CapabilityDesk`] takes one [`Ask`] at a time: it checks the plugin's permission, answers what belongs to the host
//! (configuration, components, APIs of other plugins, rows, statistics of calls), and passes the rest on to the bot
//! backend, whose answers it holds against the published table of reply keys (`docs/capabilities.md`).

mod api;
mod ask;
mod component;
mod configuration;
#[cfg(feature = "plugin-database")]
mod database;
mod desk;
mod forward;
mod hub;
mod reply;
mod simulate;
mod statistics;
mod table;

pub(crate) use ask::{Ask, Refusal};
pub use desk::CapabilityConfig;
pub(crate) use desk::CapabilityDesk;
pub(crate) use hub::{ApiCall, Attachment, PluginLink};
pub use hub::{DefinitionSource, PluginControl, PluginHub, ToolDefinition};
pub use simulate::{SimulateError, SimulatedHost, SimulatedSend};

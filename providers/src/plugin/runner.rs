//! One runner process: its start, its calls, its health, its end.

mod api;
mod calls;
mod config;
mod connector;
mod gauges;
mod handshake;
mod link;
mod log;
mod package;
mod provider;
mod reader;
mod requests;
mod watch;
mod watchdog;

pub use config::{PluginLogLevel, RunnerConfig};
pub use connector::PluginConnector;
pub(crate) use connector::{ReadDialect, Workshop};
pub use gauges::describe_plugin_metrics;
pub(crate) use package::RunnerPackage;

//! Plugins of xbot, over its JSON lines on standard input and output (seed 004).
//!
//! One plugin is one child process. Each request is a line `{"method", "params"}`, each answer a line with `result` or
//! `error`; `activate` comes first, `execute_tool` for each call, `deactivate` last. Hooks, enrichers, widgets, commands
//! and channels are not run here: what a plugin declares of them is reported and harms nothing.
//!
//! **One call at a time.** Without request ids the next answer belongs to the last request, so further calls wait, first
//! in, first out, under their own deadlines. A call that is cancelled or runs out of time in the plugin leaves the two
//! sides out of step: the process is killed and started again, and the calls that wait go to the next process.
//!
//! **Request ids.** A plugin that says `"request_ids": true`, in `plugin.json` or in its answer to `activate`, takes
//! many calls at once: every request after `activate` has an integer `id`, every answer must repeat it (best as its first
//! member), in any order. A call that is given up is told by `{"method": "cancel", "params": {"id": 7}}`, which needs no
//! answer, and costs nobody else anything.
//!
//! **Malformed lines.** A line that does not begin with `{` is noise, whenever it comes. Any other line that is no answer
//! fails the call in flight at once with `provider.protocol`; unless it is clearly that call's answer, only broken, the
//! process is started again, so that no later call can get an answer that is not its own.

mod answer;
mod call;
mod command;
mod config;
mod connector;
mod driver;
mod fields;
mod line;
mod manifest;
mod process;
mod provider;
mod request;
mod result;
mod tools;

use toolyard::ProviderKind;

pub use config::XbotConfig;
pub use connector::XbotConnector;

/// The kind of xbot's plugins.
pub const KIND: ProviderKind = ProviderKind::new("xbot");

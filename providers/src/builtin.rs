//! The tools of the host: one table of them, from which the provider lists what fits the conversation (seed 001, section
//! 4.3).
//!
//! `tool_search`, `plugins.use`, `finish` and `wait` are entries. A host adds its own, such as `reply` or `send_emoji`, in
//! the same way.

mod entry;
mod finish;
mod plugins_use;
mod provider;
mod tool_search;
mod wait;

pub use entry::{BuiltinName, BuiltinTool};
pub use provider::BuiltinProvider;

/// The provider of all of Toolyard's own tools, named `builtin`.
pub fn builtin_provider() -> BuiltinProvider {
    BuiltinProvider::new("builtin", &BuiltinName::ALL)
}

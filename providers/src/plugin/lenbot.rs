//! LenBot's plugins: plugin.toml, and what their tools, calls and results are on this side.

mod call;
mod config;
mod declaration;
mod dialect;
mod document;
mod manifest;
mod scene;
mod secret;

pub use config::LenBotConfig;
pub use dialect::KIND;
pub(crate) use dialect::LenBotDialect;

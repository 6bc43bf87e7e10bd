//! Whole-system tests: the real binary, real sockets, real MCP servers. Run by `cargo xtask test`.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod api;
mod approvals;
mod backend;
mod cli;
mod configuration;
mod declarative;
mod dialects;
mod discovery;
mod docs;
mod fuzzing;
mod invoke;
mod lifecycle;
mod loadgen;
mod mcp;
mod mcp_endpoint;
mod mcp_fleet;
mod mcp_hostile;
mod mcp_http;
mod metrics;
mod plugin_authors;
mod plugin_capabilities;
mod plugin_fleet;
mod plugin_folder;
mod plugin_hostile;
mod plugin_lenbot;
mod plugin_life;
mod plugin_maibot;
mod plugin_package;
mod providers;
mod sessions;
mod workspace;
mod xbot;

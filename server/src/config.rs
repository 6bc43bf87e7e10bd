//! The configuration: one TOML file, read whole or refused with every error at once.

mod backend;
mod builtin;
mod endpoint;
mod error;
mod folder;
mod limits;
mod mcp;
mod mcp_servers;
mod policy;
mod provider;
mod ranges;
mod reader;
mod secret;
mod server;

use std::path::Path;

use toolyard::{CallPolicy, Policy, Retry};
use toolyard_providers::CapabilityConfig;

pub(crate) use backend::{BackendConfig, HttpBackendConfig, shown_address};
pub(crate) use builtin::BuiltinConfig;
pub(crate) use endpoint::EndpointConfig;
pub(crate) use error::ConfigErrors;
pub(crate) use limits::LimitsConfig;
pub(crate) use mcp::McpFiles;
pub(crate) use provider::{ProviderConfig, ProviderKindConfig};
pub(crate) use secret::{SecretError, SecretText};
pub(crate) use server::ServerConfig;

use crate::demo;

/// A configuration that can be used.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) server: ServerConfig,
    pub(crate) limits: LimitsConfig,
    /// How calls are read where a request does not say otherwise.
    pub(crate) policy: CallPolicy,
    /// Who may use which tool.
    pub(crate) rules: Policy,
    /// Where calls whose provider broke are tried again.
    pub(crate) retry: Option<Retry>,
    /// How the bot backend is reached.
    pub(crate) backend: BackendConfig,
    /// The MCP endpoint.
    pub(crate) endpoint: EndpointConfig,
    /// What plugins may ask for.
    pub(crate) plugins: CapabilityConfig,
    /// Files of MCP.
    pub(crate) mcp: McpFiles,
    /// Toolyard's own tools where no provider of theirs is configured.
    pub(crate) builtin: BuiltinConfig,
    /// In order of precedence.
    pub(crate) providers: Vec<ProviderConfig>,
}

// === impl Config ===

impl Config {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, ConfigErrors> {
        let source = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ConfigErrors::unreadable(&source, &error))?;
        let mut config = reader::read(&source, &text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for path in [&mut config.plugins.bot_config, &mut config.plugins.data_dir] {
            *path = path.take().map(|path| folder.join(path));
        }
        config.providers.iter_mut().for_each(|provider| provider.in_folder(folder));
        config.mcp.in_folder(folder);
        if let Some(file) = &config.mcp.servers_file {
            let servers = mcp_servers::read(file).map_err(|errors| ConfigErrors::new(&source, errors))?;
            config.providers.extend(servers);
        }
        config.providers = folder::expand_all(config.providers).map_err(|errors| ConfigErrors::new(&source, errors))?;
        Ok(config)
    }

    /// Every provider that the daemon starts.
    pub(crate) fn take_providers(&mut self) -> Vec<ProviderConfig> {
        let mut providers = std::mem::take(&mut self.providers);
        providers.extend(self.builtin.beside(&providers));
        providers
    }

    /// For tests: reads a text that is right.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Self {
        reader::read("a test", text).unwrap()
    }

    /// The configuration that is used when there is none.
    pub(crate) fn demo() -> Result<Self, ConfigErrors> {
        reader::read("the built-in configuration", demo::CONFIG)
    }
}

#[cfg(test)]
mod tests;

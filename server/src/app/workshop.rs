//! Workshop: makes the providers of a configuration.

use std::sync::Arc;

use toolyard::{HostPort, ToolProvider, ToolRegistry};
use toolyard_providers::{
    CapabilityConfig, HttpConnector, McpConnector, PluginHost, Spawner, XbotConnector, builtin_provider,
    scripted_provider,
};

use super::AppError;
use super::plugins::RegistryView;
use crate::config::{ProviderConfig, ProviderKindConfig};
use crate::demo;

/// What providers are made with.
pub(super) struct Workshop<'a> {
    registry: &'a ToolRegistry,
    spawner: &'a Arc<Spawner>,
    backend: Arc<dyn HostPort>,
    capabilities: CapabilityConfig,
    plugins: Option<PluginHost>,
}

// === impl Workshop ===

impl<'a> Workshop<'a> {
    pub(super) fn new(
        registry: &'a ToolRegistry,
        spawner: &'a Arc<Spawner>,
        backend: Arc<dyn HostPort>,
        capabilities: CapabilityConfig,
    ) -> Self {
        Self { registry, spawner, backend, capabilities, plugins: None }
    }

    pub(super) async fn add(&mut self, provider: ProviderConfig) -> Result<(), AppError> {
        let settings = provider.settings();
        let name = provider.name;
        let standing: Arc<dyn ToolProvider> = match provider.kind {
            ProviderKindConfig::Builtin => Arc::new(builtin_provider()),
            ProviderKindConfig::Demo => Arc::new(demo::demo_provider(&name)),
            ProviderKindConfig::Scripted(config) => {
                let made = scripted_provider(&name, config);
                Arc::new(made.map_err(|source| AppError::Scripted { name: name.clone(), source })?)
            }
            ProviderKindConfig::Http(config) => {
                return Ok(self.registry.launch(Arc::new(HttpConnector::new(name, config)), settings).await?);
            }
            ProviderKindConfig::Mcp(config) => {
                let connector = McpConnector::new(name, config, Arc::clone(self.spawner));
                return Ok(self.registry.launch(Arc::new(connector), settings).await?);
            }
            ProviderKindConfig::Xbot(config) => {
                let connector = XbotConnector::new(name, config, Arc::clone(self.spawner));
                return Ok(self.registry.launch(Arc::new(connector), settings).await?);
            }
            ProviderKindConfig::LenBot(config, runner) => {
                let connector = self.plugins()?.lenbot(&name, *config, *runner);
                return Ok(self.registry.launch(Arc::new(connector), settings).await?);
            }
            ProviderKindConfig::MaiBot(config, runner) => {
                let connector = self.plugins()?.maibot(&name, config, *runner);
                return Ok(self.registry.launch(Arc::new(connector), settings).await?);
            }
        };
        Ok(self.registry.register(standing, settings).await?)
    }

    /// The first plugin makes it.
    fn plugins(&mut self) -> Result<&PluginHost, AppError> {
        if self.plugins.is_none() {
            let made =
                PluginHost::new(Arc::clone(self.spawner), Arc::clone(&self.backend)).map_err(AppError::Plugins)?;
            let made = made.with_capabilities(std::mem::take(&mut self.capabilities));
            let view = Arc::new(RegistryView::new(self.registry.clone()));
            made.hub().set_definitions(view.clone());
            made.hub().set_control(view);
            self.plugins = Some(made);
        }
        self.plugins.as_ref().ok_or_else(|| AppError::Plugins(std::io::Error::other("no plugin host")))
    }
}

//! Workshop: makes the providers of a configuration.

use std::sync::Arc;

use toolyard::{HostPort, ProviderConnector, ProviderSettings, ToolProvider, ToolRegistry};
use toolyard_providers::{
    BuiltinProvider, CapabilityConfig, HttpConnector, McpConnector, McpHub, McpPins, PluginHost, Spawner,
    XbotConnector, scripted_provider,
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
    mcp: McpHub,
    pins: McpPins,
}

/// A provider that is made and not yet in service.
pub(super) struct Made {
    source: Source,
    settings: ProviderSettings,
}

enum Source {
    Standing(Arc<dyn ToolProvider>),
    Launched(Arc<dyn ProviderConnector>),
}

// === impl Workshop ===

impl<'a> Workshop<'a> {
    pub(super) fn new(
        registry: &'a ToolRegistry,
        spawner: &'a Arc<Spawner>,
        backend: Arc<dyn HostPort>,
        capabilities: CapabilityConfig,
        mcp: McpHub,
        pins: McpPins,
    ) -> Self {
        Self { registry, spawner, backend, capabilities, plugins: None, mcp, pins }
    }

    /// Makes a provider, and starts nothing yet.
    pub(super) fn make(&mut self, provider: ProviderConfig) -> Result<Made, AppError> {
        let settings = provider.settings();
        let name = provider.name;
        let source = match provider.kind {
            ProviderKindConfig::Builtin(tools) => Source::Standing(Arc::new(BuiltinProvider::new(&name, &tools))),
            ProviderKindConfig::Demo => Source::Standing(Arc::new(demo::demo_provider(&name))),
            ProviderKindConfig::Scripted(config) => match scripted_provider(&name, config) {
                Ok(made) => Source::Standing(Arc::new(made)),
                Err(source) => return Err(AppError::Scripted { name, source }),
            },
            ProviderKindConfig::Http(config) => Source::launched(HttpConnector::new(name, config)),
            ProviderKindConfig::Mcp(config) => {
                let connector = McpConnector::new(name, *config, Arc::clone(self.spawner), self.mcp.clone());
                Source::launched(connector.with_host(Arc::clone(&self.backend)).with_pins(self.pins.clone()))
            }
            ProviderKindConfig::Xbot(config) => {
                Source::launched(XbotConnector::new(name, config, Arc::clone(self.spawner)))
            }
            ProviderKindConfig::LenBot(config, runner) => {
                Source::launched(self.plugins()?.lenbot(&name, *config, *runner))
            }
            ProviderKindConfig::MaiBot(config, runner) => {
                Source::launched(self.plugins()?.maibot(&name, config, *runner))
            }
        };
        Ok(Made { source, settings })
    }

    /// Puts a provider into service, or begins to start it.
    pub(super) async fn add(&self, made: Made) -> Result<(), AppError> {
        match made.source {
            Source::Standing(provider) => self.registry.register(provider, made.settings).await?,
            Source::Launched(connector) => self.registry.launch(connector, made.settings).await?,
        }
        Ok(())
    }

    /// The host of the plugins, if there are any.
    pub(super) fn into_plugins(self) -> Option<PluginHost> {
        self.plugins
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

// === impl Source ===

impl Source {
    fn launched(connector: impl ProviderConnector) -> Self {
        Self::Launched(Arc::new(connector))
    }
}

//! App: a registry with the providers of a configuration.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use toolyard::{
    CallPolicy, FunctionProvider, FunctionTool, HostPort, ImportedTool, NameForm, NoHost, ProviderSettings,
    ProviderState, RegistryError, ToolExecutionResult, ToolProvider, ToolRegistry, ToolSpec,
};
use toolyard_providers::{McpConnector, PluginHost, ScriptedError, Spawner, builtin_provider, scripted_provider};

use crate::config::{Config, ProviderConfig, ProviderKindConfig};
use crate::demo;

/// A running engine and what its providers need.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) registry: ToolRegistry,
    /// How calls are read where a request does not say otherwise.
    pub(crate) policy: CallPolicy,
    /// Providers without which the daemon is not ready.
    required: Vec<String>,
    /// Children die when it is dropped.
    _spawner: Arc<Spawner>,
}

/// What providers are made with.
struct Workshop<'a> {
    registry: &'a ToolRegistry,
    spawner: &'a Arc<Spawner>,
    backend: Arc<dyn HostPort>,
    /// Made for the first plugin.
    plugins: Option<PluginHost>,
}

/// Why an app cannot be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppError {
    #[error("child processes cannot be started: {0}")]
    Spawner(#[source] std::io::Error),
    #[error("the Python side of plugins cannot be written: {0}")]
    Plugins(#[source] std::io::Error),
    #[error("provider `{name}`: {source}")]
    Scripted { name: String, source: ScriptedError },
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

// === impl App ===

impl App {
    /// Starts the engine and begins to start its providers, in the order of the configuration.
    pub(crate) async fn start(config: Config) -> Result<Self, AppError> {
        let launcher = std::env::current_exe().ok();
        let spawner = Arc::new(Spawner::new(launcher).map_err(AppError::Spawner)?);
        let registry = ToolRegistry::new(config.limits.engine());
        let required = config.providers.iter().filter(|p| p.required).map(|p| p.name.clone()).collect();
        let mut workshop =
            Workshop { registry: &registry, spawner: &spawner, backend: Arc::new(NoHost), plugins: None };
        for provider in config.providers {
            workshop.add(provider).await?;
        }
        Ok(Self { registry, policy: config.policy, required, _spawner: spawner })
    }

    /// Starts an engine with tools that only give their arguments back. Tools of a named server carry its name.
    pub(crate) async fn echoing(tools: Vec<ImportedTool>) -> Result<Self, AppError> {
        let spawner = Arc::new(Spawner::new(None).map_err(AppError::Spawner)?);
        let registry = ToolRegistry::new(Config::default().limits.engine());
        let mut servers: IndexMap<Option<String>, FunctionProvider> = IndexMap::new();
        for ImportedTool { server, spec, .. } in tools {
            let name = server.clone().unwrap_or_else(|| "echo".to_owned());
            let provider = servers.entry(server).or_insert_with(|| FunctionProvider::new(name));
            provider.add_tool(echo(spec));
        }
        for (server, provider) in servers {
            let mut settings = ProviderSettings::default();
            settings.name_form = if server.is_some() { NameForm::Qualified } else { NameForm::Bare };
            registry.register(Arc::new(provider), settings).await?;
        }
        Ok(Self { registry, policy: CallPolicy::default(), required: Vec::new(), _spawner: spawner })
    }

    /// Why the daemon is not ready yet, one line a provider.
    pub(crate) fn not_ready(&self) -> Vec<String> {
        let waits = |name: &str, state: ProviderState| {
            state == ProviderState::Starting || (state != ProviderState::Up && self.required.iter().any(|r| r == name))
        };
        let providers = self.registry.providers();
        providers
            .iter()
            .filter(|provider| waits(&provider.name, provider.state))
            .map(|provider| match &provider.reason {
                Some(reason) => format!("{}: {reason}", provider.name),
                None => format!("{}: starting", provider.name),
            })
            .collect()
    }

    pub(crate) async fn close(&self, grace: Duration) {
        self.registry.close(grace).await;
    }
}

// === impl Workshop ===

impl Workshop<'_> {
    async fn add(&mut self, provider: ProviderConfig) -> Result<(), AppError> {
        let settings = provider.settings();
        let name = provider.name;
        let standing: Arc<dyn ToolProvider> = match provider.kind {
            ProviderKindConfig::Builtin => Arc::new(builtin_provider()),
            ProviderKindConfig::Demo => Arc::new(demo::demo_provider(&name)),
            ProviderKindConfig::Scripted(config) => {
                let made = scripted_provider(&name, config);
                Arc::new(made.map_err(|source| AppError::Scripted { name: name.clone(), source })?)
            }
            ProviderKindConfig::Mcp(config) => {
                let connector = McpConnector::new(name, config, Arc::clone(self.spawner));
                return Ok(self.registry.launch(Arc::new(connector), settings).await?);
            }
            ProviderKindConfig::MaiBot(config, runner) => {
                let connector = self.plugins()?.maibot(&name, config, *runner);
                return Ok(self.registry.launch(Arc::new(connector), settings).await?);
            }
        };
        Ok(self.registry.register(standing, settings).await?)
    }

    fn plugins(&mut self) -> Result<&PluginHost, AppError> {
        if self.plugins.is_none() {
            let made = PluginHost::new(Arc::clone(self.spawner), Arc::clone(&self.backend));
            self.plugins = Some(made.map_err(AppError::Plugins)?);
        }
        self.plugins.as_ref().ok_or_else(|| AppError::Plugins(std::io::Error::other("no plugin host")))
    }
}

fn echo(spec: ToolSpec) -> FunctionTool {
    FunctionTool::new(spec, |invocation, _context| {
        let echoed = ToolExecutionResult::structured(invocation.arguments().json().clone());
        std::future::ready(Ok(echoed))
    })
}

//! App: a registry with the providers of a configuration.

mod plugins;
mod policy;
mod workshop;

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{
    CallPolicy, FunctionProvider, FunctionTool, HostPort, ImportedTool, NameForm, ProviderSettings, ProviderState,
    RegistryError, ToolExecutionResult, ToolRegistry, ToolSpec,
};
use toolyard_providers::{McpEndpoint, McpHub, McpPins, PluginHost, ScriptedError, Spawner};

use crate::backend::{Backend, BackendError};
use crate::config::Config;
use policy::watch_policy;
use workshop::{Made, Workshop};

/// A running engine and what its providers need.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) registry: ToolRegistry,
    /// What providers may ask.
    pub(crate) backend: Arc<Backend>,
    /// How calls are read where a request does not say otherwise.
    pub(crate) policy: CallPolicy,
    /// Toolyard as an MCP server; absent where it is switched off.
    pub(crate) endpoint: Option<McpEndpoint>,
    /// What MCP servers said of their tools when they were first seen.
    pub(crate) pins: McpPins,
    /// Providers without which the daemon is not ready.
    required: Vec<String>,
    plugins: Option<PluginHost>,
    /// Holds the policy against the tools.
    _policy_watch: AbortOnDropHandle<()>,
    /// Children die when it is dropped.
    _spawner: Arc<Spawner>,
}

/// Why an app cannot be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppError {
    #[error("child processes cannot be started: {0}")]
    Spawner(#[source] std::io::Error),
    #[error("the Python side of plugins cannot be written: {0}")]
    Plugins(#[source] std::io::Error),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error("provider `{name}`: {source}")]
    Scripted { name: String, source: ScriptedError },
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

// === impl App ===

impl App {
    /// Starts the engine and begins to start its providers, in the order of the configuration.
    pub(crate) async fn start(mut config: Config) -> Result<Self, AppError> {
        let providers = config.take_providers();
        let launcher = std::env::current_exe().ok();
        let spawner = Arc::new(Spawner::new(launcher).map_err(AppError::Spawner)?);
        let backend = Arc::new(Backend::start(config.backend)?);
        let registry = ToolRegistry::with_host(config.limits.engine(), Arc::clone(&backend) as Arc<dyn HostPort>);
        registry.set_policy(config.rules);
        if let Some(retry) = config.retry {
            registry.add_middleware(Arc::new(retry));
        }
        let hub = McpHub::new();
        let endpoint = config.endpoint.enabled.then(|| {
            let endpoint = config.endpoint.endpoint(&config.server, config.policy, &providers);
            McpEndpoint::new(registry.clone(), hub.clone(), Arc::clone(&backend) as Arc<dyn HostPort>, endpoint)
        });
        let required = providers.iter().filter(|p| p.required).map(|p| p.name.clone()).collect();
        let pins = config.mcp.pins_file.map_or_else(McpPins::in_memory, McpPins::in_file);
        let mut workshop =
            Workshop::new(&registry, &spawner, backend.clone(), config.plugins, hub.clone(), pins.clone());
        // All before the first is started: plugins look at one another when they are.
        let made: Result<Vec<Made>, AppError> = providers.into_iter().map(|provider| workshop.make(provider)).collect();
        for made in made? {
            workshop.add(made).await?;
        }
        let plugins = workshop.into_plugins();
        let policy = config.policy;
        let _policy_watch = watch_policy(&registry);
        Ok(Self { plugins, registry, backend, policy, endpoint, pins, required, _policy_watch, _spawner: spawner })
    }

    /// Starts an engine with tools that only give their arguments back. Tools of a named server carry its name.
    pub(crate) async fn echoing(tools: Vec<ImportedTool>) -> Result<Self, AppError> {
        let spawner = Arc::new(Spawner::new(None).map_err(AppError::Spawner)?);
        let Config { limits, backend, .. } = Config::default();
        let backend = Arc::new(Backend::start(backend)?);
        let registry = ToolRegistry::new(limits.engine());
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
        let policy = CallPolicy::default();
        let pins = McpPins::in_memory();
        let required = Vec::new();
        let _policy_watch = watch_policy(&registry);
        Ok(Self {
            registry,
            backend,
            policy,
            endpoint: None,
            pins,
            required,
            plugins: None,
            _policy_watch,
            _spawner: spawner,
        })
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
        if let Some(endpoint) = &self.endpoint {
            endpoint.close();
        }
        if let Some(plugins) = &self.plugins {
            plugins.close();
        }
        // Only now: what is in flight may still need it.
        self.backend.close();
    }
}

fn echo(spec: ToolSpec) -> FunctionTool {
    FunctionTool::new(spec, |invocation, _context| {
        let echoed = ToolExecutionResult::structured(invocation.arguments().json().clone());
        std::future::ready(Ok(echoed))
    })
}

//! Subject: the plugin that is checked, running alone in an engine of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolyard::{HostPort, Limits, NameForm, NoHost, ProviderConnector, ProviderSettings, ProviderStatus, ToolRegistry};
use toolyard_providers::{HttpConnector, PluginHost, PluginHub, RunnerConfig, SimulatedHost, Spawner, XbotConnector};

use super::{CliError, PluginDialect};
use crate::app::AppError;
use crate::cli::input;

/// The manifest of an xbot plugin may allow itself up to five minutes.
const XBOT_START: Duration = Duration::from_secs(310);
/// Time beyond that of the start, for the engine to take note of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A plugin, as its files show it.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) dialect: PluginDialect,
    /// Its folder, or its document.
    pub(super) path: PathBuf,
    /// The name of its provider.
    pub(super) name: String,
}

/// A plugin in an engine of its own.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) registry: ToolRegistry,
    /// What the plugins of some kinds say of themselves.
    pub(super) hub: Option<Arc<PluginHub>>,
    pub(super) simulated: Option<Arc<SimulatedHost>>,
    plugins: Option<PluginHost>,
    _spawner: Arc<Spawner>,
}

// === impl Subject ===

impl Subject {
    /// Tells the kind of the plugin from its files.
    pub(super) fn find(path: &Path) -> Result<Self, CliError> {
        let unknown = |what: String| CliError::Input(format!("{}: {what}", path.display()));
        let path = std::path::absolute(path).map_err(|error| unknown(error.to_string()))?;
        if path.is_dir() {
            let has = |file: &str| path.join(file).is_file();
            let dialect = if has("_manifest.json") {
                PluginDialect::MaiBot
            } else if has("plugin.toml") {
                PluginDialect::LenBot
            } else if has("plugin.json") {
                PluginDialect::Xbot
            } else {
                return Err(unknown("there is no _manifest.json, plugin.toml or plugin.json in the folder".to_owned()));
            };
            let name = path.file_name().map_or_else(|| "plugin".to_owned(), |name| name.to_string_lossy().into_owned());
            return Ok(Self { dialect, path, name });
        }
        if !path.is_file() {
            return Err(unknown("there is no such folder or file".to_owned()));
        }
        if path.file_name().is_some_and(|name| name == "_manifest.json") {
            return Self::find(path.parent().unwrap_or(Path::new("/")));
        }
        let name = document_name(&path)?;
        Ok(Self { dialect: PluginDialect::Http, path, name })
    }

    /// Starts the plugin and waits until it is up or is not.
    pub(super) async fn start(
        &self,
        python: &str,
        options: Map<String, Value>,
        simulate: bool,
    ) -> Result<Running, CliError> {
        let launcher = std::env::current_exe().ok();
        let spawner = Arc::new(Spawner::new(launcher).map_err(AppError::Spawner)?);
        let simulated = simulate.then(|| Arc::new(SimulatedHost::new()));
        let host: Arc<dyn HostPort> = match &simulated {
            Some(host) => Arc::clone(host) as Arc<dyn HostPort>,
            None => Arc::new(NoHost),
        };
        let registry = ToolRegistry::with_host(Limits::default(), Arc::clone(&host));
        let (mut hub, mut host_of_plugins) = (None, None);
        let connector: Arc<dyn ProviderConnector> = match self.dialect {
            PluginDialect::Http => Arc::new(HttpConnector::new(self.name.clone(), self.config("file", options)?)),
            PluginDialect::Xbot => {
                let config = self.config("path", options)?;
                Arc::new(XbotConnector::new(self.name.clone(), config, Arc::clone(&spawner)))
            }
            PluginDialect::MaiBot | PluginDialect::LenBot => {
                let plugins = PluginHost::new(Arc::clone(&spawner), host).map_err(AppError::Plugins)?;
                hub = Some(Arc::clone(plugins.hub()));
                host_of_plugins = Some(plugins.clone());
                let (runner, options) = runner(python, options)?;
                Arc::new(if self.dialect == PluginDialect::MaiBot {
                    plugins.maibot(&self.name, self.config("path", options)?, runner)
                } else {
                    plugins.lenbot(&self.name, self.config("path", options)?, runner)
                })
            }
        };
        let settings = self.settings();
        let patience = settings.start_timeout + PATIENCE;
        registry.launch(connector, settings).await.map_err(AppError::from)?;
        registry.wait_started(patience).await;
        Ok(Running { registry, hub, simulated, plugins: host_of_plugins, _spawner: spawner })
    }

    /// As the daemon has them where its configuration says nothing.
    fn settings(&self) -> ProviderSettings {
        let mut settings = ProviderSettings::default();
        settings.name_form = match self.dialect {
            PluginDialect::Http => NameForm::Qualified,
            PluginDialect::MaiBot | PluginDialect::LenBot | PluginDialect::Xbot => NameForm::Bare,
        };
        if self.dialect == PluginDialect::Xbot {
            settings.start_timeout = XBOT_START;
        }
        settings
    }

    /// The configuration of its kind, as its entry in the daemon's would have it.
    fn config<T: DeserializeOwned>(&self, key: &str, mut options: Map<String, Value>) -> Result<T, CliError> {
        options.insert(key.to_owned(), json!(self.path));
        read_options(options)
    }
}

// === impl Running ===

impl Running {
    /// Ends everything.
    pub(super) async fn close(&self) {
        self.registry.close(Duration::ZERO).await;
        if let Some(plugins) = &self.plugins {
            plugins.close();
        }
    }

    /// How the plugin stands.
    pub(super) fn status(&self) -> Option<ProviderStatus> {
        self.registry.providers().into_iter().next()
    }
}

/// The keys of the runner's, and the others.
fn runner(python: &str, options: Map<String, Value>) -> Result<(RunnerConfig, Map<String, Value>), CliError> {
    let (mut own, others): (Map<_, _>, Map<_, _>) =
        options.into_iter().partition(|(key, _)| RunnerConfig::KEYS.contains(&key.as_str()));
    own.entry("python").or_insert_with(|| json!(python));
    // The plugin is looked at once, as it is now.
    own.insert("watch".to_owned(), json!(false));
    Ok((read_options(own)?, others))
}

fn read_options<T: DeserializeOwned>(options: Map<String, Value>) -> Result<T, CliError> {
    serde_json::from_value(Value::Object(options)).map_err(|error| CliError::Input(format!("--options: {error}")))
}

/// What a document calls itself, else the name of its file: what is wrong with it is told by others.
fn document_name(path: &Path) -> Result<String, CliError> {
    let text = input::text(path)?;
    let document: Option<Value> = if path.extension().is_some_and(|end| end == "json") {
        serde_json::from_str(&text).ok()
    } else {
        toml::from_str(&text).ok()
    };
    let own = document.as_ref().and_then(|document| document.get("plugin")?.as_str()).filter(|name| !name.is_empty());
    let stem = || path.file_stem().map_or_else(|| "plugin".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok(own.map_or_else(stem, str::to_owned))
}

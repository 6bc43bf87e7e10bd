//! XbotConnector: starts a plugin afresh.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{ErrorCode, ProviderConnector, ProviderKind, ToolFailure, ToolProvider};

use super::manifest::Manifest;
use super::process::{Launch, PluginProcess};
use super::provider::XbotPlugin;
use super::{KIND, XbotConfig};
use crate::process::Spawner;
use crate::watch::{Change, FileWatch, watched};

/// Starts one plugin of xbot, as often as it is needed. Each start reads `plugin.json` again.
#[derive(Debug)]
pub struct XbotConnector {
    name: Arc<str>,
    config: XbotConfig,
    spawner: Arc<Spawner>,
}

// === impl XbotConnector ===

impl XbotConnector {
    /// A connector for the plugin of `config` under the provider name `name`.
    pub fn new(name: impl Into<Arc<str>>, config: XbotConfig, spawner: Arc<Spawner>) -> Self {
        Self { name: name.into(), config, spawner }
    }

    async fn open(&self) -> Result<Arc<dyn ToolProvider>, ToolFailure> {
        let down = |reason: String| ToolFailure::not_sent(ErrorCode::ProviderDown, reason);
        let folder = self.config.path.clone();
        let watch = FileWatch::folder(&folder, None, Box::new(meaning));
        let read = tokio::task::spawn_blocking(move || Manifest::read(&folder)).await;
        let manifest = read.map_err(|error| down(format!("plugin.json cannot be read: {error}")))?.map_err(down)?;
        let version = manifest.version.clone();
        let launch = Launch { spawner: Arc::clone(&self.spawner), config: self.config.clone(), manifest };
        let launch = Arc::new(launch);
        let (process, activated) = PluginProcess::start(&launch).await?;
        tracing::info!(provider = %self.name, plugin = launch.manifest.id, version, "a plugin is active");
        let plugin = XbotPlugin::new(Arc::clone(&self.name), launch, process, activated);
        Ok(watched(Arc::new(plugin), watch))
    }
}

impl ProviderConnector for XbotConnector {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>> {
        Box::pin(self.open())
    }
}

/// A plugin is made of its manifest and of what it runs.
fn meaning(path: &Path) -> Option<Change> {
    const SCRIPTS: [&str; 6] = ["cjs", "js", "mjs", "py", "sh", "ts"];
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_code = path.file_name().is_some_and(|name| name == "plugin.json") || SCRIPTS.contains(&extension);
    is_code.then_some(Change::Code)
}

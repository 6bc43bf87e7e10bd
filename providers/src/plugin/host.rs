//! PluginHost: what all plugins of one daemon share, and the making of their connectors.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolyard::HostPort;

use super::capability::{CapabilityConfig, CapabilityDesk, PluginHub};
use super::dialect::Dialect;
use super::lenbot::{self, LenBotConfig, LenBotDialect};
use super::maibot::{self, MaiBotConfig, MaiBotDialect};
use super::runner::{PluginConnector, ReadDialect, RunnerConfig, RunnerPackage, Workshop};
use crate::process::Spawner;

/// What all plugins of one daemon share: the thread that starts their processes, the Python side of these, and whoever
/// answers what they ask for. Cloning shares it.
#[derive(Clone, Debug)]
pub struct PluginHost {
    workshop: Workshop,
}

// === impl PluginHost ===

impl PluginHost {
    /// A host whose plugins' requests for what is the bot's go to `backend`.
    ///
    /// # Errors
    /// The Python side of the plugins' processes cannot be written to the temporary folder.
    pub fn new(spawner: Arc<Spawner>, backend: Arc<dyn HostPort>) -> io::Result<Self> {
        let package = Arc::new(RunnerPackage::unpack()?);
        let desk = CapabilityDesk::new(backend, PluginHub::new(), CapabilityConfig::default());
        Ok(Self { workshop: Workshop { spawner, package, desk } })
    }

    /// The same host with other settings of what plugins may ask for.
    #[must_use]
    pub fn with_capabilities(mut self, config: CapabilityConfig) -> Self {
        self.workshop.desk = self.workshop.desk.configured(config);
        self
    }

    /// The plugins that are up, as they know of one another.
    pub fn hub(&self) -> &Arc<PluginHub> {
        self.workshop.desk.hub()
    }

    /// A connector for one MaiBot plugin. Its manifest is read anew for each incarnation.
    pub fn maibot(&self, name: &str, config: MaiBotConfig, runner: RunnerConfig) -> PluginConnector {
        let path = absolute(&config.path);
        let read: ReadDialect = Box::new(move || match MaiBotDialect::read(config.clone()) {
            Ok(dialect) => Ok(Arc::new(dialect) as Arc<dyn Dialect>),
            Err(error) => Err(error.to_string()),
        });
        PluginConnector::new(name, maibot::KIND, path, runner, read, self.workshop.clone())
    }

    /// A connector for one LenBot plugin. Its manifest and its secrets are read anew for each incarnation.
    pub fn lenbot(&self, name: &str, config: LenBotConfig, runner: RunnerConfig) -> PluginConnector {
        let path = absolute(&config.path);
        let read: ReadDialect =
            Box::new(move || LenBotDialect::read(config.clone()).map(|dialect| Arc::new(dialect) as Arc<dyn Dialect>));
        PluginConnector::new(name, lenbot::KIND, path, runner, read, self.workshop.clone())
    }
}

/// The runner's working directory is another: what it is told must not depend on it.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_unreadable| path.to_owned())
}

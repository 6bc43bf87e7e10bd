//! PluginHost: what all plugins of one daemon share, and the making of their connectors.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolyard::HostPort;

use super::capability::{CapabilityConfig, CapabilityDesk, PluginHub};
use super::dialect::Dialect;
use super::lenbot::{self, LenBotConfig, LenBotDialect};
use super::maibot::{self, MaiBotConfig, MaiBotDialect, Neighbours};
use super::runner::{PluginConnector, ReadDialect, RunnerConfig, RunnerPackage, Workshop};
use crate::process::Spawner;

/// What all plugins of one daemon share: the thread that starts their processes, the Python side of these, and whoever
/// answers what they ask for. Cloning shares it.
#[derive(Clone, Debug)]
pub struct PluginHost {
    workshop: Workshop,
    neighbours: Arc<Neighbours>,
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
        Ok(Self { workshop: Workshop { spawner, package, desk }, neighbours: Arc::default() })
    }

    /// The same host with other settings of what plugins may ask for.
    #[must_use]
    pub fn with_capabilities(mut self, config: CapabilityConfig) -> Self {
        self.workshop.desk = self.workshop.desk.configured(config);
        self
    }

    /// Gives back what the host holds on the file system. Call it once the registry is closed.
    pub fn close(&self) {
        self.workshop.package.remove();
    }

    /// The plugins that are up, as they know of one another.
    pub fn hub(&self) -> &Arc<PluginHub> {
        self.workshop.desk.hub()
    }

    /// A connector for one MaiBot plugin. Its manifest is read now, so that plugins know of one another before the first
    /// is loaded, and anew for each incarnation.
    pub fn maibot(&self, name: &str, config: MaiBotConfig, runner: RunnerConfig) -> PluginConnector {
        let path = absolute(&config.path);
        let (provider, neighbours) = (name.to_owned(), Arc::clone(&self.neighbours));
        let read = move || -> Result<Arc<dyn Dialect>, String> {
            let dialect = MaiBotDialect::read(config.clone()).map_err(|error| error.to_string())?;
            neighbours.learn(&provider, dialect.id(), dialect.needs());
            Ok(Arc::new(dialect))
        };
        // Known before any of them is loaded. What is wrong with a manifest is told when it is.
        drop(read());
        let (provider, neighbours) = (name.to_owned(), Arc::clone(&self.neighbours));
        let read: ReadDialect = Box::new(move || {
            let dialect = read()?;
            neighbours.objection(&provider).map_or(Ok(dialect), Err)
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

//! PluginHost: what all plugins of one daemon share, and the making of their connectors.

use std::io;
use std::sync::Arc;

use toolyard::HostPort;

use super::capability::CapabilityDesk;
use super::dialect::Dialect;
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
        let desk = Arc::new(CapabilityDesk::new(backend));
        Ok(Self { workshop: Workshop { spawner, package, desk } })
    }

    /// A connector for one MaiBot plugin. Its manifest is read anew for each incarnation.
    pub fn maibot(&self, name: &str, config: MaiBotConfig, runner: RunnerConfig) -> PluginConnector {
        let path = config.path.clone();
        let read: ReadDialect = Box::new(move || match MaiBotDialect::read(config.clone()) {
            Ok(dialect) => Ok(Arc::new(dialect) as Arc<dyn Dialect>),
            Err(error) => Err(error.to_string()),
        });
        PluginConnector::new(name, maibot::KIND, path, runner, read, self.workshop.clone())
    }
}

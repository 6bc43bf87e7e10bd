//! Watching a plugin's files: new code is loaded, a new configuration is handed over.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::provider::Shared;
use crate::plugin::wire;
use crate::watch::{Change, FileWatch};

/// Files that the plugin is made of, beside its Python files.
const MANIFESTS: [&str; 3] = ["_manifest.json", "plugin.toml", "plugin.json"];
/// The plugin's configuration.
const CONFIG: &str = "config.toml";

/// A plugin's files under watch.
pub(super) struct Watch(FileWatch);

// === impl Watch ===

impl Watch {
    /// Begins to watch; what changes from now on is not missed. Blocks for as long as it takes to look into the folders.
    pub(super) fn begin(path: &Path, data_dir: PathBuf) -> notify::Result<Self> {
        FileWatch::folder(path, Some(data_dir), Box::new(meaning)).map(Self)
    }

    /// Tells of changes until it is aborted.
    pub(super) async fn run(self, shared: Arc<Shared>) {
        loop {
            match self.0.changed().await {
                Change::Code => shared.outdated.tell("its files changed"),
                Change::Config => shared.link.send(wire::configure(0, "self", None, "")).await,
            }
        }
    }
}

fn meaning(path: &Path) -> Option<Change> {
    let name = path.file_name()?.to_str()?;
    if name == CONFIG {
        return Some(Change::Config);
    }
    let is_code = path.extension().is_some_and(|extension| extension == "py") || MANIFESTS.contains(&name);
    is_code.then_some(Change::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plugin_writes_by_itself_changes_nothing() {
        for (name, expected) in [
            ("plugin.py", Some(Change::Code)),
            ("lib/helper.py", Some(Change::Code)),
            ("_manifest.json", Some(Change::Code)),
            ("config.toml", Some(Change::Config)),
            ("state.json", None),
            ("notes.md", None),
            ("plugin.cpython-311.pyc", None),
            ("data.sqlite3", None),
        ] {
            assert_eq!(meaning(Path::new(name)), expected, "{name}");
        }
        assert!(Change::Code > Change::Config, "new code reads its configuration anyway");
    }
}

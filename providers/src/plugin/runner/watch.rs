//! Watching a plugin's files: new code is loaded, a new configuration is handed over.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::provider::Shared;
use crate::plugin::wire;

/// Files are written in several steps: nothing is done until they have been left alone for this long.
const QUIET: Duration = Duration::from_millis(600);
/// Nor is it put off for longer than this.
const LONGEST: Duration = Duration::from_secs(5);
/// Changes that may wait; a plugin has to be loaded again once, however many there are.
const QUEUE: usize = 256;
/// Folders that are watched at most.
const MAX_FOLDERS: usize = 512;
/// Files that the plugin is made of, beside its Python files.
const MANIFESTS: [&str; 3] = ["_manifest.json", "plugin.toml", "plugin.json"];
/// The plugin's configuration.
const CONFIG: &str = "config.toml";
/// Folders with nothing of the plugin's own making in them.
const FOREIGN: [&str; 4] = ["__pycache__", "node_modules", "venv", "site-packages"];

/// What a change means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Config,
    Code,
}

/// A plugin's files under watch.
pub(super) struct Watch {
    watcher: RecommendedWatcher,
    events: mpsc::Receiver<Event>,
    folders: Folders,
}

/// Which folders are watched.
struct Folders {
    data_dir: PathBuf,
    watched: usize,
}

// === impl Watch ===

impl Watch {
    /// Begins to watch; what changes from now on is not missed. Blocks for as long as it takes to look into the folders.
    pub(super) fn begin(path: &Path, data_dir: PathBuf) -> notify::Result<Self> {
        let (tell, events) = mpsc::channel(QUEUE);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Ok(event) = event {
                tell.try_send(event).ok();
            }
        })?;
        let mut folders = Folders { data_dir, watched: 0 };
        folders.add(&mut watcher, path);
        Ok(Self { watcher, events, folders })
    }

    /// Tells of changes until it is aborted.
    pub(super) async fn run(mut self, shared: Arc<Shared>) {
        while let Some(change) = self.next().await {
            match change {
                Change::Code => shared.outdated.tell("its files changed"),
                Change::Config => shared.link.send(wire::configure(0, "self", None, "")).await,
            }
        }
    }

    /// The next change, once the files are left alone. What else happens in the folder does not count.
    async fn next(&mut self) -> Option<Change> {
        let mut change = loop {
            let event = self.events.recv().await?;
            if let Some(change) = self.folders.take(&mut self.watcher, &event) {
                break change;
            }
        };
        let latest = Instant::now() + LONGEST;
        let mut quiet = Instant::now() + QUIET;
        while let Ok(Some(event)) = timeout_at(quiet.min(latest), self.events.recv()).await {
            if let Some(another) = self.folders.take(&mut self.watcher, &event) {
                change = change.max(another);
                quiet = Instant::now() + QUIET;
            }
        }
        Some(change)
    }
}

// === impl Folders ===

impl Folders {
    /// Watches a folder and those in it. Links are not followed.
    fn add(&mut self, watcher: &mut RecommendedWatcher, folder: &Path) {
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            if self.watched >= MAX_FOLDERS || watcher.watch(&folder, RecursiveMode::NonRecursive).is_err() {
                continue;
            }
            self.watched += 1;
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            waiting.extend(folders.map(|entry| entry.path()).filter(|path| self.is_own(path)));
        }
    }

    fn is_own(&self, folder: &Path) -> bool {
        let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        folder != self.data_dir && !name.starts_with('.') && !FOREIGN.contains(&&*name)
    }

    /// What an event means. A new folder is watched from now on.
    fn take(&mut self, watcher: &mut RecommendedWatcher, event: &Event) -> Option<Change> {
        if matches!(event.kind, EventKind::Access(_) | EventKind::Modify(notify::event::ModifyKind::Metadata(_))) {
            return None;
        }
        for path in &event.paths {
            if path.is_dir() && self.is_own(path) && matches!(event.kind, EventKind::Create(_)) {
                self.add(watcher, path);
            }
        }
        event.paths.iter().filter_map(|path| change_of(path)).max()
    }
}

fn change_of(path: &Path) -> Option<Change> {
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
            assert_eq!(change_of(Path::new(name)), expected, "{name}");
        }
        assert!(Change::Code > Change::Config, "new code reads its configuration anyway");
    }
}

//! Watching the files that a provider is made of.

mod watched;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, timeout_at};

pub(crate) use watched::watched;

/// Files are written in several steps: nothing is done until they have been left alone for this long.
const QUIET: Duration = Duration::from_millis(600);
/// Nor is it put off for longer than this.
const LONGEST: Duration = Duration::from_secs(5);
/// Changes that may wait; a provider has to be made again once, however many there are.
const QUEUE: usize = 256;
/// Folders that are watched at most.
const MAX_FOLDERS: usize = 512;
/// Folders with nothing of a provider's own making in them.
const FOREIGN: [&str; 4] = ["__pycache__", "node_modules", "venv", "site-packages"];

/// What a change of a file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// A configuration that can be handed over.
    Config,
    /// What the provider is made of.
    Code,
}

/// Says what a change of this file means; nothing for files that do not matter.
pub(crate) type Meaning = Box<dyn Fn(&Path) -> Option<Change> + Send + Sync>;

/// A watch over a folder and those in it, or over one file.
pub(crate) struct FileWatch {
    state: Mutex<State>,
    meaning: Meaning,
}

struct State {
    events: mpsc::Receiver<Event>,
    watcher: RecommendedWatcher,
    folders: Folders,
    /// Seen and not told yet: whoever waits may be interrupted.
    pending: Option<Change>,
}

/// Which folders are watched.
struct Folders {
    skipped: Option<PathBuf>,
    watched: usize,
}

// === impl FileWatch ===

impl FileWatch {
    /// Watches a folder and those in it, but for `skipped`.
    ///
    /// # Errors
    /// The system offers no watch.
    pub(crate) fn folder(folder: &Path, skipped: Option<PathBuf>, meaning: Meaning) -> notify::Result<Self> {
        let (mut watcher, events) = watcher()?;
        let mut folders = Folders { skipped, watched: 0 };
        folders.add(&mut watcher, folder);
        Ok(Self { state: Mutex::new(State { events, watcher, folders, pending: None }), meaning })
    }

    /// Watches one file, by its folder, since editors put new files in the places of old ones.
    ///
    /// # Errors
    /// The system offers no watch.
    pub(crate) fn file(file: &Path) -> notify::Result<Self> {
        let name = file.file_name().map(OsStr::to_owned);
        let meaning: Meaning = Box::new(move |path| (path.file_name() == name.as_deref()).then_some(Change::Code));
        let (mut watcher, events) = watcher()?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        let folders = Folders { skipped: None, watched: MAX_FOLDERS };
        Ok(Self { state: Mutex::new(State { events, watcher, folders, pending: None }), meaning })
    }

    /// Waits for the next change, until the files are left alone again. Several at once give the greatest.
    pub(crate) async fn changed(&self) -> Change {
        let mut state = self.state.lock().await;
        let State { events, watcher, folders, pending } = &mut *state;
        while pending.is_none() {
            let Some(event) = events.recv().await else { return std::future::pending().await };
            *pending = folders.take(watcher, &event, &self.meaning);
        }
        let latest = Instant::now() + LONGEST;
        let mut quiet = Instant::now() + QUIET;
        while let Ok(Some(event)) = timeout_at(quiet.min(latest), events.recv()).await {
            // What else happens in the folder does not count.
            if let Some(another) = folders.take(watcher, &event, &self.meaning) {
                *pending = (*pending).max(Some(another));
                quiet = Instant::now() + QUIET;
            }
        }
        pending.take().unwrap_or(Change::Code)
    }
}

impl fmt::Debug for FileWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileWatch")
    }
}

fn watcher() -> notify::Result<(RecommendedWatcher, mpsc::Receiver<Event>)> {
    let (tell, events) = mpsc::channel(QUEUE);
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if let Ok(event) = event {
            tell.try_send(event).ok();
        }
    })?;
    Ok((watcher, events))
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
        self.skipped.as_deref() != Some(folder) && !name.starts_with('.') && !FOREIGN.contains(&&*name)
    }

    /// What an event means. A new folder is watched from now on.
    fn take(&mut self, watcher: &mut RecommendedWatcher, event: &Event, meaning: &Meaning) -> Option<Change> {
        if matches!(event.kind, EventKind::Access(_) | EventKind::Modify(notify::event::ModifyKind::Metadata(_))) {
            return None;
        }
        for path in &event.paths {
            if matches!(event.kind, EventKind::Create(_)) && path.is_dir() && self.is_own(path) {
                self.add(watcher, path);
            }
        }
        event.paths.iter().filter_map(|path| meaning(path)).max()
    }
}

//! RunnerPackage: the Python side, which the binary carries with it.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use include_dir::{Dir, include_dir};
use tempfile::TempDir;

/// How the folders are called; the rest of a name is random.
const PREFIX: &str = "toolyard-runner-";
/// The file in a folder that its daemon keeps locked for as long as it lives.
const LOCK: &str = "in-use";
/// Folders of others that one start looks at.
const MAX_LOOKED_AT: usize = 1024;

static PACKAGE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/python/toolyard_runner");

/// The Python side of plugin processes, written out where Python finds it. Removed when dropped.
#[derive(Debug)]
pub(crate) struct RunnerPackage {
    path: PathBuf,
    /// The lock is let go after the folder.
    folder: Mutex<Option<(TempDir, File)>>,
}

// === impl RunnerPackage ===

impl RunnerPackage {
    /// Writes it to a fresh temporary folder, which others may read: plugins can run as other users. Folders that daemons
    /// of this user have left behind, because they were killed, are removed.
    ///
    /// # Errors
    /// The folder or a file in it cannot be written.
    pub(crate) fn unpack() -> io::Result<Self> {
        let parent = std::env::temp_dir();
        match remove_abandoned(&parent) {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "folders of daemons that were killed are removed"),
            Err(error) => tracing::debug!(%error, "the temporary folder cannot be looked through"),
        }
        Self::unpack_in(&parent)
    }

    fn unpack_in(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = lock(folder.path())?;
        readable(folder.path())?;
        write(&PACKAGE, &folder.path().join("toolyard_runner"))?;
        Ok(Self { path: folder.path().to_owned(), folder: Mutex::new(Some((folder, lock))) })
    }

    /// What belongs into `PYTHONPATH`.
    pub(crate) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Removes it. No process can be started with it any more.
    pub(crate) fn remove(&self) {
        drop(self.folder.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Marks a folder as in use, until the file is closed. It has its name only once it is locked, so that nobody finds it
/// unlocked in between.
fn lock(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join("in-use.new");
    let file = File::create_new(&unnamed)?;
    file.try_lock()?;
    std::fs::rename(unnamed, folder.join(LOCK))?;
    Ok(file)
}

/// Removes folders of this user whose daemon lives no more, and says how many. One without a lock may be about to be
/// locked, and stays.
fn remove_abandoned(parent: &Path) -> io::Result<usize> {
    let ours = std::fs::read_dir(parent)?.filter_map(Result::ok);
    let ours = ours.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)).take(MAX_LOOKED_AT);
    Ok(ours.filter(|entry| is_own_folder(&entry.path()) && remove_if_abandoned(&entry.path())).count())
}

/// A link does not count, wherever it leads.
fn is_own_folder(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == own)
}

fn remove_if_abandoned(folder: &Path) -> bool {
    let Ok(lock) = File::open(folder.join(LOCK)) else { return false };
    if lock.try_lock().is_err() {
        return false;
    }
    std::fs::remove_dir_all(folder).is_ok()
}

fn write(dir: &Dir<'_>, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    readable(to)?;
    for file in dir.files() {
        if let Some(name) = file.path().file_name() {
            std::fs::write(to.join(name), file.contents())?;
        }
    }
    for inner in dir.dirs() {
        if let Some(name) = inner.path().file_name().filter(|name| *name != "__pycache__") {
            write(inner, &to.join(name))?;
        }
    }
    Ok(())
}

fn readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_daemon_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let alive = RunnerPackage::unpack_in(parent.path()).unwrap();
        let killed = RunnerPackage::unpack_in(parent.path()).unwrap();
        let left = killed.path();
        // A process that is killed lets its locks go and removes nothing.
        let (folder, lock) = killed.folder.lock().unwrap().take().unwrap();
        drop((folder.keep(), lock));
        // Of an older version, or not locked yet.
        std::fs::create_dir(at("toolyard-runner-bare")).unwrap();
        // What only looks like one.
        std::fs::create_dir(at("other")).unwrap();
        std::fs::write(at("other").join(LOCK), "").unwrap();
        std::fs::write(at("toolyard-runner-file"), "").unwrap();
        std::os::unix::fs::symlink(at("other"), at("toolyard-runner-link")).unwrap();

        assert!(left.join("toolyard_runner/__main__.py").exists());
        assert_eq!(remove_abandoned(parent.path()).unwrap(), 1);
        assert!(!left.exists());
        for name in ["toolyard-runner-bare", "other/in-use", "toolyard-runner-file", "toolyard-runner-link"] {
            assert!(at(name).exists(), "{name}");
        }
        assert!(alive.path().join("toolyard_runner/__main__.py").exists());
        let gone = alive.path();
        alive.remove();
        assert!(!gone.exists());
        assert_eq!(remove_abandoned(parent.path()).unwrap(), 0);
    }
}

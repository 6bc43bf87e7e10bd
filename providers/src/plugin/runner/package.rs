//! RunnerPackage: the Python side, which the binary carries with it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use include_dir::{Dir, include_dir};
use tempfile::TempDir;

static PACKAGE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/python/toolyard_runner");

/// The Python side of plugin processes, written out where Python finds it. Removed when dropped.
#[derive(Debug)]
pub(crate) struct RunnerPackage {
    path: PathBuf,
    folder: Mutex<Option<TempDir>>,
}

// === impl RunnerPackage ===

impl RunnerPackage {
    /// Writes it to a fresh temporary folder, which others may read: plugins can run as other users.
    ///
    /// # Errors
    /// The folder or a file in it cannot be written.
    pub(crate) fn unpack() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("toolyard-runner-").tempdir()?;
        readable(folder.path())?;
        write(&PACKAGE, &folder.path().join("toolyard_runner"))?;
        Ok(Self { path: folder.path().to_owned(), folder: Mutex::new(Some(folder)) })
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

//! `_manifest.json`, version 2: what a plugin says of itself before any of its code runs.

mod fields;
mod rules;

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::config::MaiBotConfig;
use super::version::Version;

/// The file's name.
const FILE: &str = "_manifest.json";
/// Bytes that it may have.
const MAX_BYTES: u64 = 1024 * 1024;

/// A manifest that has been checked.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    /// The plugin's id, such as `author.plugin-name`.
    pub(crate) id: String,
    pub(crate) version: Version,
    pub(crate) name: String,
    /// `extension` where the manifest does not say.
    pub(crate) plugin_type: String,
    pub(crate) capabilities: BTreeSet<String>,
    pub(crate) packages: Vec<Package>,
    /// Ids of the plugins that this one needs.
    pub(crate) plugins: Vec<String>,
    /// What is not as it should be and stops nothing.
    pub(crate) warnings: Vec<String>,
}

/// A Python package that a plugin needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Such as `>=1.0,<2`; empty for any version.
    pub(crate) version_spec: String,
}

/// Why a manifest is refused: everything at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestError {
    path: PathBuf,
    faults: Vec<ManifestFault>,
}

/// One thing that is wrong with a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestFault {
    /// Where, such as `author.url`; empty for the file as a whole.
    pub(crate) key: String,
    /// What is wrong, and what would be right.
    pub(crate) message: String,
}

// === impl Manifest ===

impl Manifest {
    /// Reads the manifest in the folder at `plugin` and checks it against the claimed versions. Blocks for the time of a
    /// small file.
    ///
    /// # Errors
    /// Names every key that is wrong.
    pub(crate) fn read(plugin: &Path, config: &MaiBotConfig) -> Result<Self, ManifestError> {
        let path = plugin.join(FILE);
        let refuse = |message: String| ManifestError {
            path: path.clone(),
            faults: vec![ManifestFault { key: String::new(), message }],
        };
        if !plugin.join("plugin.py").is_file() {
            return Err(refuse(format!("there is no plugin.py in {}", plugin.display())));
        }
        let text = read_file(&path).map_err(|error| refuse(format!("the file cannot be read: {error}")))?;
        let text = text.trim_start_matches('\u{feff}');
        let document: Value =
            serde_json::from_str(text).map_err(|error| refuse(format!("the file is not JSON: {error}")))?;
        rules::check(&document, config).map_err(|faults| ManifestError { path: path.clone(), faults })
    }
}

// === impl ManifestError ===

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        for (index, fault) in self.faults.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "; " })?;
            match fault.key.as_str() {
                "" => f.write_str(&fault.message)?,
                key => write!(f, "`{key}` {}", fault.message)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for ManifestError {}

fn read_file(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES) {
        Ok(text)
    } else {
        Err(std::io::Error::other(format!("it is larger than {MAX_BYTES} bytes")))
    }
}

#[cfg(test)]
mod tests;

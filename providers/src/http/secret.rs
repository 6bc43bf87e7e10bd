//! Secrets: values that a document names and the machine holds.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A shorter secret could not be kept out of results without taking innocent text out too.
const MIN_CHARS: usize = 4;
/// The longest secret, in bytes.
const MAX_BYTES: u64 = 16 << 10;

/// Where a secret is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SecretSource {
    /// In this variable of the daemon's environment.
    Env(String),
    /// In this file; beside the document, where the path is relative.
    File(PathBuf),
}

/// The secrets that are there. Never printed.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    values: BTreeMap<String, String>,
}

/// Reads every secret. Those that cannot be had are given back by name, with the reason.
pub(super) fn read_secrets(
    sources: &BTreeMap<String, SecretSource>,
    folder: &Path,
) -> (Secrets, BTreeMap<String, String>) {
    let mut secrets = Secrets::default();
    let mut missing = BTreeMap::new();
    for (name, source) in sources {
        match source.read(folder) {
            Ok(value) => drop(secrets.values.insert(name.clone(), value)),
            Err(reason) => drop(missing.insert(name.clone(), reason)),
        }
    }
    (secrets, missing)
}

// === impl SecretSource ===

impl SecretSource {
    fn read(&self, folder: &Path) -> Result<String, String> {
        let (value, place) = match self {
            Self::Env(variable) => {
                let place = format!("the environment variable {variable}");
                (std::env::var(variable).map_err(|_| format!("{place} is not set, or is not UTF-8"))?, place)
            }
            Self::File(path) => {
                let path = folder.join(path);
                let place = format!("the file {}", path.display());
                (read_file(&path).map_err(|error| format!("{place} cannot be read: {error}"))?, place)
            }
        };
        let value = value.trim_end_matches(['\r', '\n']);
        if value.chars().count() < MIN_CHARS {
            return Err(format!("{place} holds fewer than {MIN_CHARS} characters"));
        }
        if value.chars().any(char::is_control) {
            return Err(format!("{place} holds a control character"));
        }
        Ok(value.to_owned())
    }
}

fn read_file(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            format!("it is longer than {MAX_BYTES} bytes"),
        ));
    }
    Ok(text)
}

// === impl Secrets ===

impl Secrets {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.values.values().map(String::as_str)
    }

    #[cfg(test)]
    pub(super) fn of<const N: usize>(values: [(&str, &str); N]) -> Self {
        Self { values: values.map(|(name, value)| (name.to_owned(), value.to_owned())).into() }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

//! McpValue: a value that may be secret, and where it is kept.

use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The longest value, in bytes.
const MAX_BYTES: u64 = 16 << 10;

const WAYS: &str =
    "a text, { env = \"NAME\" } or { file = \"path\" }, the last two with a `prefix` where one is needed";

/// A value of a header or a variable: written down, or kept elsewhere and read when it is needed. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct McpValue {
    source: Source,
    prefix: String,
}

#[derive(Clone, PartialEq, Eq)]
enum Source {
    Text(String),
    Env(String),
    File(PathBuf),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    env: Option<String>,
    file: Option<PathBuf>,
    #[serde(default)]
    prefix: String,
}

/// Reads a value without ever quoting it.
struct ValueVisitor;

// === impl McpValue ===

impl McpValue {
    /// This text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { source: Source::Text(text.into()), prefix: String::new() }
    }

    /// What is in a file; line ends at its end are no part of it.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { source: Source::File(path.into()), prefix: String::new() }
    }

    /// Whether it is kept outside of the configuration.
    pub(super) fn is_kept_elsewhere(&self) -> bool {
        !matches!(self.source, Source::Text(_))
    }

    /// Whether it is to be in a variable of this process that is not set: nothing but a restart mends that.
    pub(super) fn is_unset(&self) -> bool {
        matches!(&self.source, Source::Env(name) if std::env::var_os(name).is_none())
    }

    /// A path is relative to this folder.
    pub fn in_folder(&mut self, folder: &Path) {
        if let Source::File(path) = &mut self.source {
            *path = folder.join(&*path);
        }
    }

    /// Puts another value in the place of one that is kept in a file, whole or not at all; any other is left.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn replace(&self, text: &str) -> std::io::Result<()> {
        let Source::File(path) = &self.source else { return Ok(()) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // For its owner only, as temporary files are.
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(text.as_bytes())?;
        draft.as_file().sync_all()?;
        draft.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Reads the value.
    ///
    /// # Errors
    /// Where it was to be found, and why it was not. Never holds any of it.
    pub(super) fn read(&self) -> Result<String, String> {
        let (value, place) = match &self.source {
            Source::Text(text) => return Ok(text.clone()),
            Source::Env(name) => {
                let place = format!("the environment variable {name}");
                (std::env::var(name).map_err(|_| format!("{place} is not set, or is not UTF-8"))?, place)
            }
            Source::File(path) => {
                let place = format!("the file {}", path.display());
                (read_file(path).map_err(|error| format!("{place} cannot be read: {error}"))?, place)
            }
        };
        let value = value.trim_end_matches(['\r', '\n']);
        if value.is_empty() {
            return Err(format!("{place} is empty"));
        }
        Ok(format!("{}{value}", self.prefix))
    }
}

fn read_file(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

impl fmt::Debug for McpValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(value)")
    }
}

impl<'de> Deserialize<'de> for McpValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

// === impl ValueVisitor ===

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = McpValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WAYS)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<McpValue, E> {
        Ok(McpValue::text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<McpValue, A::Error> {
        let keys = Keys::deserialize(MapAccessDeserializer::new(map))?;
        let source = match (keys.env, keys.file) {
            (Some(name), None) => Source::Env(name),
            (None, Some(path)) => Source::File(path),
            _ => return Err(de::Error::custom(format_args!("must be {WAYS}"))),
        };
        Ok(McpValue { source, prefix: keys.prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(json: serde_json::Value) -> Result<McpValue, String> {
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_is_read_from_where_it_is_kept_and_never_shown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "s3cret\n").unwrap();
        let kept = value(json!({"file": file.path(), "prefix": "Bearer "})).unwrap();
        assert_eq!(kept.read().unwrap(), "Bearer s3cret");
        assert_eq!(value(json!("plain")).unwrap().read().unwrap(), "plain");
        assert!(!format!("{kept:?}{:?}", McpValue::text("s3cret")).contains("s3cret"));
        std::fs::write(file.path(), "\n").unwrap();
        assert!(kept.read().unwrap_err().contains("is empty"));
    }

    #[test]
    fn a_value_that_is_nowhere_is_an_error_that_names_the_place() {
        let error = value(json!({"env": "TOOLYARD_TEST_NO_SUCH_VARIABLE"})).unwrap().read().unwrap_err();
        assert!(error.contains("TOOLYARD_TEST_NO_SUCH_VARIABLE"), "{error}");
        assert!(McpValue::file("/nonexistent/x").read().unwrap_err().contains("/nonexistent/x"));
        for wrong in [json!({}), json!({"env": "A", "file": "b"}), json!(7), json!({"enf": "A"})] {
            assert!(value(wrong.clone()).is_err(), "{wrong}");
        }
    }
}

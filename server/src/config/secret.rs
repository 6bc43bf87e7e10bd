//! Secrets: named in the configuration, never written there.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Shorter secrets can be guessed.
const MIN_BYTES: usize = 16;

const WAYS: &str = "{ env = \"NAME\" } or { file = \"path\" }";

/// Where a secret is: `{ env = "NAME" }` or `{ file = "path" }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SecretSource {
    /// A variable of the daemon's environment.
    Env(String),
    /// A file; white space at its end is no part of the secret.
    File(PathBuf),
}

/// A secret, which is never shown.
#[derive(Clone)]
pub(crate) struct SecretText(String);

/// Why there is no secret. Never holds any of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("the environment variable `{0}` is not set, or is not UTF-8")]
    NoVariable(String),
    #[error("{path} cannot be read: {error}", path = .path.display())]
    NoFile { path: PathBuf, error: std::io::Error },
    #[error("it must have at least {MIN_BYTES} bytes; `openssl rand -hex 32` makes a good one")]
    TooShort,
    #[error("it cannot be used as a key")]
    Unusable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretKeys {
    env: Option<String>,
    file: Option<PathBuf>,
}

/// Reads a source without ever quoting what is there.
struct SecretVisitor;

// === impl SecretSource ===

impl SecretSource {
    /// Reads the secret.
    pub(crate) fn read(&self) -> Result<SecretText, SecretError> {
        let text = match self {
            Self::Env(name) => std::env::var(name).map_err(|_error| SecretError::NoVariable(name.clone()))?,
            Self::File(path) => std::fs::read_to_string(path)
                .map_err(|error| SecretError::NoFile { path: path.clone(), error })?
                .trim_end()
                .to_owned(),
        };
        if text.len() < MIN_BYTES { Err(SecretError::TooShort) } else { Ok(SecretText(text)) }
    }
}

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretVisitor)
    }
}

// === impl SecretVisitor ===

impl<'de> Visitor<'de> for SecretVisitor {
    type Value = SecretSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WAYS)
    }

    /// The text is most likely the secret itself.
    fn visit_str<E: de::Error>(self, _text: &str) -> Result<SecretSource, E> {
        Err(E::custom(format_args!("must be {WAYS}; a secret is never written here")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SecretSource, A::Error> {
        let keys = SecretKeys::deserialize(MapAccessDeserializer::new(map))?;
        match (keys.env, keys.file) {
            (Some(name), None) => Ok(SecretSource::Env(name)),
            (None, Some(path)) => Ok(SecretSource::File(path)),
            _ => Err(de::Error::custom(format_args!("must be {WAYS}"))),
        }
    }
}

// === impl SecretText ===

impl SecretText {
    #[cfg(test)]
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_file(text: &str) -> Result<SecretText, SecretError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        SecretSource::File(file.path().to_owned()).read()
    }

    #[test]
    fn a_secret_is_read_without_the_line_end_and_never_shown() {
        let secret = read_file("0123456789abcdef\n").unwrap();
        assert_eq!(secret.reveal(), "0123456789abcdef");
        assert_eq!(format!("{secret:?}"), "(secret)");
    }

    #[test]
    fn a_secret_that_is_missing_or_too_short_is_refused_without_being_quoted() {
        let short = read_file("hunter2\n").unwrap_err().to_string();
        assert!(short.contains("16 bytes") && !short.contains("hunter2"), "{short}");
        let missing = SecretSource::Env("TOOLYARD_TEST_NO_SUCH_VARIABLE".to_owned()).read().unwrap_err().to_string();
        assert!(missing.contains("TOOLYARD_TEST_NO_SUCH_VARIABLE"), "{missing}");
        assert!(
            SecretSource::File("/nonexistent/secret".into()).read().unwrap_err().to_string().contains("/nonexistent")
        );
    }
}

//! `[backend]`: how the bot backend is reached.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use super::secret::SecretSource;

/// The key that is read apart; all others belong to the kind.
pub(super) const KIND_KEY: &str = "kind";

/// How the bot backend is reached.
#[derive(Debug, Default)]
pub(crate) enum BackendConfig {
    /// There is none.
    #[default]
    None,
    /// Made-up or recorded answers, marked as such.
    Simulate(SimulateConfig),
    /// It is called.
    Http(HttpBackendConfig),
    /// It connects itself.
    Events(EventsBackendConfig),
}

/// A backend that only pretends.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulateConfig {
    /// A JSON file with answers by capability; others are made up.
    #[serde(default)]
    pub(crate) file: Option<PathBuf>,
}

/// A backend that is called.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpBackendConfig {
    /// Where requests are posted.
    pub(crate) url: BackendUrl,
    /// Signs requests.
    pub(crate) secret: SecretSource,
    /// Requests in flight. Default 256.
    #[serde(default = "default_max_in_flight")]
    pub(crate) max_in_flight: NonZeroUsize,
    /// Bytes of one answer. Default 4 MiB.
    #[serde(default = "default_max_response_bytes")]
    pub(crate) max_response_bytes: usize,
}

/// A backend that connects itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsBackendConfig {
    /// Requests that wait or are in a backend's hands. Default 256.
    #[serde(default = "default_max_in_flight")]
    pub(crate) max_in_flight: NonZeroUsize,
    #[serde(default)]
    connect_grace_ms: u64,
}

/// An address of http or https. Shown without what may be secret in it.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct BackendUrl(pub(crate) Url);

/// What stands in `[backend]` for all kinds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BackendKind {
    pub(super) kind: BackendKindName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BackendKindName {
    None,
    Simulate,
    Http,
    Events,
}

/// An address without the parts that may be secret.
pub(crate) fn shown_address(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}

fn default_max_in_flight() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(255)
}

fn default_max_response_bytes() -> usize {
    4 << 20
}

// === impl EventsBackendConfig ===

impl EventsBackendConfig {
    /// How long a request waits for somebody to connect. Default 0.
    pub(crate) fn connect_grace(&self) -> Duration {
        Duration::from_millis(self.connect_grace_ms)
    }
}

// === impl BackendUrl ===

impl TryFrom<String> for BackendUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // What was written may be a secret: it is not quoted.
        let url =
            Url::parse(&text).map_err(|error| format!("url: {error}; it must look like http://127.0.0.1:8080/"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("url: must start with http:// or https://, not {}:", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("url: must hold no user and no password; requests are signed".to_owned());
        }
        Ok(Self(url))
    }
}

impl fmt::Debug for BackendUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_address(&self.0))
    }
}

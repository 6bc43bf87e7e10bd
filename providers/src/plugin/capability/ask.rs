//! One request of a plugin, and the ways to refuse it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio::time::Instant;
use toolyard::{HostCaller, JsonText};

/// What a plugin asks of its host.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// Name of the plugin's provider.
    pub(crate) plugin: Arc<str>,
    /// The plugin's own id.
    pub(crate) plugin_id: Arc<str>,
    /// Which of the plugin's incarnations asks, where it is attached to the hub.
    pub(crate) incarnation: Option<u64>,
    /// The capability, such as `send.text`.
    pub(crate) name: String,
    /// Its arguments, an object.
    pub(crate) arguments: JsonText,
    /// The call on whose behalf the plugin asks; absent when it asks by itself.
    pub(crate) caller: Option<HostCaller>,
    /// When the answer is of no use any more.
    pub(crate) deadline: Instant,
    /// What the plugin's manifest lists; everything where absent.
    pub(crate) allowed: Option<Arc<BTreeSet<String>>>,
}

/// Why a request is not answered. The codes are those of MaiBot's protocol and no others: an unknown code stops
/// MaiBot's own runner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub(crate) struct Refusal {
    /// Stable code.
    pub(crate) code: &'static str,
    /// A sentence for the plugin's author.
    pub(crate) message: String,
}

// === impl Ask ===

impl Ask {
    /// Reads the arguments.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        self.arguments
            .to()
            .map_err(|error| Refusal::bad_payload(format!("the arguments of `{}` cannot be used: {error}", self.name)))
    }
}

// === impl Refusal ===

impl Refusal {
    pub(crate) fn denied(message: impl Into<String>) -> Self {
        Self { code: "E_CAPABILITY_DENIED", message: message.into() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { code: "E_CAPABILITY_FAILED", message: message.into() }
    }

    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self { code: "E_TIMEOUT", message: message.into() }
    }

    pub(crate) fn not_allowed(message: impl Into<String>) -> Self {
        Self { code: "E_METHOD_NOT_ALLOWED", message: message.into() }
    }

    pub(crate) fn bad_payload(message: impl Into<String>) -> Self {
        Self { code: "E_BAD_PAYLOAD", message: message.into() }
    }

    pub(crate) fn plugin_not_found(message: impl Into<String>) -> Self {
        Self { code: "E_PLUGIN_NOT_FOUND", message: message.into() }
    }

    pub(crate) fn plugin_crashed(message: impl Into<String>) -> Self {
        Self { code: "E_PLUGIN_CRASHED", message: message.into() }
    }

    pub(crate) fn back_pressure(message: impl Into<String>) -> Self {
        Self { code: "E_BACK_PRESSURE", message: message.into() }
    }
}

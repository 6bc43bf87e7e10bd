//! Answers to capability requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;
use toolyard::{HostCaller, HostPort, HostRequest, JsonText};

/// One request of a plugin.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// The provider's name.
    pub(crate) plugin: Arc<str>,
    pub(crate) plugin_id: Arc<str>,
    pub(crate) name: String,
    pub(crate) arguments: JsonText,
    pub(crate) caller: Option<HostCaller>,
    pub(crate) deadline: Instant,
    pub(crate) allowed: Option<Arc<BTreeSet<String>>>,
}

/// Why a request is refused, in MaiBot's codes.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// Answers requests.
#[derive(Debug)]
pub(crate) struct CapabilityDesk {
    host: Arc<dyn HostPort>,
}

// === impl CapabilityDesk ===

impl CapabilityDesk {
    pub(crate) fn new(host: Arc<dyn HostPort>) -> Self {
        Self { host }
    }

    pub(crate) async fn answer(&self, ask: Ask) -> Result<JsonText, Refusal> {
        let request = HostRequest {
            capability: ask.name,
            payload: ask.arguments,
            provider: ask.plugin,
            caller: ask.caller,
            deadline: ask.deadline,
        };
        let answer = self.host.request(request).await;
        answer.map_err(|failure| Refusal { code: "E_CAPABILITY_FAILED", message: failure.to_string() })
    }
}

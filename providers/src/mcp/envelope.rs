//! Envelope: what a client says of itself in every request of revision 2026-07-28.

use toolyard::JsonText;

/// The members that every request has in its `_meta`. None in older revisions.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope(Vec<(&'static str, JsonText)>);

const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS_TOKEN: &str = "progressToken";

// === impl Envelope ===

impl Envelope {
    pub(super) fn new(revision: &str, capabilities: JsonText) -> Self {
        let revision = JsonText::string(revision);
        Self(vec![(REVISION, revision), (CLIENT, client_info()), (CAPABILITIES, capabilities)])
    }

    /// The same, asking for log lines from this level on.
    pub(super) fn with_log_level(&self, level: JsonText) -> Self {
        let mut members: Vec<_> = self.0.iter().filter(|(key, _)| *key != LOG_LEVEL).cloned().collect();
        members.push((LOG_LEVEL, level));
        Self(members)
    }

    /// The `_meta` of a request that reports its progress under this token.
    pub(super) fn with_progress(&self, token: JsonText) -> JsonText {
        let members = self.0.iter().cloned();
        JsonText::object(members.chain([(PROGRESS_TOKEN, token)]))
    }

    /// Parameters with what every request has, whatever they said of it themselves.
    pub(super) fn around(&self, params: &JsonText) -> JsonText {
        if self.0.is_empty() {
            return params.clone();
        }
        let members = params.members().unwrap_or_default();
        let own = members.iter().find(|(key, _)| key == "_meta").and_then(|(_, meta)| meta.members());
        let own = own.unwrap_or_default();
        let kept = own.iter().filter(|(key, _)| !self.0.iter().any(|(ours, _)| ours == key));
        let kept = kept.map(|(key, value)| (key.as_str(), value.clone()));
        let meta = JsonText::object(kept.chain(self.0.iter().cloned()));
        let others = members.iter().filter(|(key, _)| key != "_meta").map(|(key, value)| (key.as_str(), value.clone()));
        JsonText::object(others.chain([("_meta", meta)]))
    }
}

/// Who we are.
pub(super) fn client_info() -> JsonText {
    let version = JsonText::string(env!("CARGO_PKG_VERSION"));
    JsonText::object([("name", JsonText::string("toolyard")), ("version", version)])
}

//! Dialogue: what a service and its client have agreed on, as headers say it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;

use crate::mcp::upstream::transport::{Era, Opened, Outgoing, OutgoingKind};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Bytes of a session id.
const MAX_SESSION_ID: usize = 1 << 10;

/// Opens a dialogue of the era before 2026-07-28.
pub(super) const INITIALIZE: &str = "initialize";

/// What was agreed on.
#[derive(Debug, Default)]
pub(super) struct Dialogue(Mutex<Agreed>);

/// A moment of a dialogue.
#[derive(Clone, Debug, Default)]
pub(super) struct Agreed {
    /// Nothing, until the handshake is done.
    pub(super) opened: Option<Opened>,
    pub(super) session: Option<HeaderValue>,
}

/// Where a message says which revision it is of.
#[derive(Deserialize)]
struct Versioned {
    params: Option<Params>,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

// === impl Dialogue ===

impl Dialogue {
    pub(super) fn now(&self) -> Agreed {
        self.agreed().clone()
    }

    pub(super) fn open(&self, opened: &Opened) {
        self.agreed().opened = Some(opened.clone());
    }

    /// Forgets everything: a new one begins.
    pub(super) fn forget(&self) {
        *self.agreed() = Agreed::default();
    }

    /// Takes the session's id from the answer to `initialize`.
    pub(super) fn begin(&self, response: &Response) {
        let id = response.headers().get(SESSION_ID).filter(|id| id.len() <= MAX_SESSION_ID).cloned();
        self.agreed().session = id;
    }

    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Agreed ===

impl Agreed {
    /// The headers of a message that is posted.
    pub(super) fn of_post(&self, message: &Outgoing) -> HeaderMap {
        let mut headers = self.of_every_request();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let version = match &self.opened {
            Some(opened) if opened.era == Era::Legacy => None,
            Some(opened) => Some(opened.revision.to_string()),
            // A question to find the era out says itself which revision it is of.
            None => version_of(message.text.as_str()),
        };
        if let Some(version) = version {
            set(&mut headers, PROTOCOL_VERSION, &version);
            if let Some(method) = message.kind.method() {
                set(&mut headers, METHOD, method);
            }
            if let OutgoingKind::Request { name: Some(name), .. } = &message.kind {
                set(&mut headers, NAME, name);
            }
        }
        if let OutgoingKind::Request { mirrored, .. } = &message.kind {
            for (name, value) in mirrored {
                if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                    set(&mut headers, name, value);
                }
            }
        }
        headers
    }

    /// The headers of a request for the server's own stream, taken up after this event.
    pub(super) fn of_stream(&self, last_event: Option<&str>) -> HeaderMap {
        let mut headers = self.of_every_request();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_event.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(HeaderName::from_static("last-event-id"), id);
        }
        headers
    }

    /// The session, and the revision where it was agreed on once for all.
    pub(super) fn of_every_request(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(session) = &self.session {
            headers.insert(SESSION_ID, session.clone());
        }
        if let Some(opened) = &self.opened {
            set(&mut headers, PROTOCOL_VERSION, &opened.revision);
        }
        headers
    }
}

// === impl OutgoingKind ===

impl OutgoingKind {
    pub(super) fn method(&self) -> Option<&str> {
        match self {
            Self::Request { method, .. } => Some(method),
            Self::Other { method } => method.as_deref(),
        }
    }
}

fn version_of(message: &str) -> Option<String> {
    serde_json::from_str::<Versioned>(message).ok()?.params?.meta?.version
}

/// Sets a header. What cannot stand in one goes in Base64, as revision 2026-07-28 says.
fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    let text = if is_plain { value.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(value)) };
    if let Ok(value) = HeaderValue::from_str(&text) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolyard::JsonText;

    fn call(name: &str, mirrored: &[(&str, &str)]) -> Outgoing {
        let mirrored = mirrored.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let kind = OutgoingKind::Request { id: 1, method: "tools/call".into(), name: Some(name.to_owned()), mirrored };
        Outgoing { text: JsonText::object([]), kind }
    }

    fn agreed(era: Era, revision: &str, session: Option<&'static str>) -> Agreed {
        let opened = Some(Opened { era, revision: revision.into() });
        Agreed { opened, session: session.map(HeaderValue::from_static) }
    }

    #[test]
    fn a_legacy_message_says_its_session_and_revision() {
        let headers = agreed(Era::Legacy, "2025-11-25", Some("s1")).of_post(&call("x", &[]));
        assert_eq!(headers[SESSION_ID], "s1");
        assert_eq!(headers[PROTOCOL_VERSION], "2025-11-25");
        assert!(!headers.contains_key(METHOD) && !headers.contains_key(NAME));
    }

    #[test]
    fn a_modern_message_says_its_method_and_name_and_arguments() {
        let mirrored = [("Mcp-Param-City", "Kiel"), ("Mcp-Param-Note", " ü"), ("bad name", "x")];
        let headers = agreed(Era::Modern, "2026-07-28", None).of_post(&call("grüße", &mirrored));
        assert_eq!(headers[METHOD], "tools/call");
        assert_eq!(headers[NAME], "=?base64?Z3LDvMOfZQ==?=");
        assert_eq!(headers["mcp-param-city"], "Kiel");
        assert_eq!(headers["mcp-param-note"], "=?base64?IMO8?=");
        assert!(!headers.contains_key(SESSION_ID));
    }

    #[test]
    fn a_question_before_the_handshake_says_the_revision_that_it_is_of() {
        let text = r#"{"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let kind = OutgoingKind::Request { id: 0, method: "server/discover".into(), name: None, mirrored: Vec::new() };
        let modern = Outgoing { text: JsonText::parse(text).unwrap(), kind: kind.clone() };
        let headers = Agreed::default().of_post(&modern);
        assert_eq!(headers[PROTOCOL_VERSION], "2026-07-28");
        assert_eq!(headers[METHOD], "server/discover");
        let legacy = Outgoing { text: JsonText::object([]), kind };
        assert!(!Agreed::default().of_post(&legacy).contains_key(PROTOCOL_VERSION));
    }
}

//! Meta: what a client says of itself and of one request, in `_meta` or when it opened the connection.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolyard::JsonText;

use super::error::RpcError;

/// The newest revision, in which each request stands for itself.
pub(super) const MODERN: &str = "2026-07-28";
/// Revisions that are opened by `initialize`, the newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What Toolyard looks at in a request's `_meta`.
#[derive(Clone, Debug, Default)]
pub(super) struct Meta {
    pub(super) progress_token: Option<JsonText>,
    pub(super) version: Option<String>,
    pub(super) capabilities: Option<ClientCapabilities>,
    pub(super) log_level: Option<LogLevel>,
}

/// What a client can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientCapabilities {
    pub(super) sampling: bool,
    pub(super) elicitation: bool,
    pub(super) url_elicitation: bool,
    pub(super) roots: bool,
}

/// How grave a line of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LogLevel(usize);

#[derive(Deserialize)]
struct WithMeta<'a> {
    #[serde(rename = "_meta", borrow)]
    meta: Option<RawMeta<'a>>,
}

#[derive(Deserialize)]
struct RawMeta<'a> {
    #[serde(rename = "progressToken", borrow)]
    progress_token: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    version: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/logLevel", borrow)]
    log_level: Option<&'a RawValue>,
}

// === impl Meta ===

impl Meta {
    pub(super) fn of(params: &JsonText) -> Self {
        let Ok(WithMeta { meta: Some(meta) }) = serde_json::from_str(params.as_str()) else { return Self::default() };
        let is_token = |raw: &&RawValue| raw.get().starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
        Self {
            progress_token: meta.progress_token.filter(is_token).map(JsonText::from),
            version: meta.version.and_then(text),
            capabilities: meta.capabilities.and_then(|raw| ClientCapabilities::read(raw.get())),
            log_level: meta.log_level.and_then(text).and_then(|level| LogLevel::named(&level)),
        }
    }
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Cow<'_, str>>(raw.get()).ok().map(Cow::into_owned)
}

// === impl ClientCapabilities ===

impl ClientCapabilities {
    /// Reads a `capabilities` object.
    pub(super) fn read(json: &str) -> Option<Self> {
        let Ok(Value::Object(declared)) = serde_json::from_str(json) else { return None };
        let has = |key: &str| declared.get(key).is_some_and(Value::is_object);
        let elicitation = declared.get("elicitation").and_then(Value::as_object);
        let is_form = |modes: &serde_json::Map<String, Value>| modes.contains_key("form") || !modes.contains_key("url");
        Some(Self {
            sampling: has("sampling"),
            elicitation: elicitation.is_some_and(is_form),
            url_elicitation: elicitation.is_some_and(|modes| modes.contains_key("url")),
            roots: has("roots"),
        })
    }

    /// Whether the client can be asked for anything at all.
    pub(super) const fn any(self) -> bool {
        self.sampling || self.elicitation || self.url_elicitation || self.roots
    }
}

// === impl LogLevel ===

impl LogLevel {
    const NAMES: [&'static str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(Self)
    }

    pub(super) fn as_str(self) -> &'static str {
        Self::NAMES.get(self.0).copied().unwrap_or("debug")
    }

    /// The level of a `notifications/message`; what cannot be read is never held back.
    pub(super) fn of_line(params: &JsonText) -> Self {
        let level = params.member("level").and_then(|level| level.text());
        level.and_then(|level| Self::named(&level)).unwrap_or(Self(Self::NAMES.len()))
    }
}

/// The revision that a session is opened with: the client's own where it is known, else the newest that is opened so.
pub(super) fn negotiate(wanted: &str) -> &'static str {
    LEGACY.into_iter().find(|known| *known == wanted).unwrap_or(LEGACY[0])
}

/// That a revision is not spoken here.
pub(super) fn unsupported(requested: &str) -> RpcError {
    let supported = JsonText::array(supported().map(JsonText::string));
    RpcError::new(RpcError::UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with_data(JsonText::object([("requested", JsonText::string(requested)), ("supported", supported)]))
}

/// Every revision that is spoken here, the newest first.
pub(super) fn supported() -> impl Iterator<Item = &'static str> {
    std::iter::once(MODERN).chain(LEGACY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_read_as_far_as_it_can_be() {
        let params = r#"{"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}},"other":[1]}}"#;
        let meta = Meta::of(&JsonText::parse(params).unwrap());
        assert_eq!(meta.progress_token.unwrap().as_str(), "7");
        assert_eq!(meta.version.as_deref(), Some(MODERN));
        let capabilities = meta.capabilities.unwrap();
        assert_eq!((capabilities.elicitation, capabilities.url_elicitation), (false, true));
    }

    #[test]
    fn an_elicitation_capability_without_modes_means_forms() {
        let declared = ClientCapabilities::read(r#"{"elicitation":{},"sampling":null}"#).unwrap();
        assert_eq!(declared, ClientCapabilities { elicitation: true, ..ClientCapabilities::default() });
        assert_eq!(ClientCapabilities::read("7"), None);
    }

    #[test]
    fn levels_have_an_order() {
        assert!(LogLevel::named("debug") < LogLevel::named("emergency"));
        assert_eq!(LogLevel::named("loud"), None);
    }
}

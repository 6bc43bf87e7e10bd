//! What the headers of a request must say, and whether they say the same as its body.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, header};
use serde_json::Value;
use toolyard::JsonText;

use super::error::RpcError;
use super::message::{Message, Request};
use super::meta::{LEGACY, MODERN, Meta, unsupported};
use super::mirror::Mirror;

pub(super) const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const PARAM: &str = "mcp-param-";
pub(super) const EVENT_STREAM: &str = "text/event-stream";
pub(super) const JSON: &str = "application/json";

/// Whether the client takes an answer of this type.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let any_of = [kind, "*/*", kind.split_once('/').map_or("*/*", |(family, _)| family)];
    accepted.flat_map(|value| value.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        any_of.iter().any(|wanted| range.eq_ignore_ascii_case(wanted) || range.strip_suffix("/*") == Some(*wanted))
    })
}

/// Whether the body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(JSON)
}

pub(super) fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether the request is of a revision in which each request stands for itself.
pub(super) fn says_modern(headers: &HeaderMap) -> bool {
    text(headers, VERSION).is_some_and(|version| version >= MODERN)
}

/// Whether a message is of such a revision: by what it says itself, else by its headers.
pub(super) fn is_modern(message: &Message, meta: &Meta, headers: &HeaderMap) -> bool {
    let Message::Request(request) = message else { return says_modern(headers) };
    if &*request.method == "initialize" && request.params.member("protocolVersion").is_some() {
        return false;
    }
    if let Some(version) = &meta.version {
        return !LEGACY.contains(&version.as_str());
    }
    &*request.method == "server/discover" || says_modern(headers)
}

/// Whether the header of an older client names a revision that is spoken here; none at all is one.
pub(super) fn legacy_version_is_known(headers: &HeaderMap) -> bool {
    headers.get(VERSION).is_none_or(|version| LEGACY.iter().any(|known| version == known))
}

/// Checks a request of 2026-07-28: what `_meta` must have, and that the headers say the same.
pub(super) fn check_modern(
    request: &Request,
    meta: &Meta,
    headers: &HeaderMap,
    mirrors: impl FnOnce(&str) -> std::sync::Arc<[Mirror]>,
) -> Result<(), RpcError> {
    check_meta(meta)?;
    let version = meta.version.as_deref().unwrap_or_default();
    match only(headers, VERSION)? {
        Some(said) if said == version => {}
        Some(said) => {
            let message = format!("the header MCP-Protocol-Version says {said}, `_meta` says {version}");
            return Err(RpcError::header_mismatch(message));
        }
        None => return Err(RpcError::header_mismatch("the header MCP-Protocol-Version is missing")),
    }
    if version != MODERN {
        return Err(unsupported(version));
    }
    match only(headers, METHOD)? {
        Some(said) if said == &*request.method => {}
        Some(said) => {
            let message = format!("the header Mcp-Method says {said}, the body {}", request.method);
            return Err(RpcError::header_mismatch(message));
        }
        None => return Err(RpcError::header_mismatch("the header Mcp-Method is missing")),
    }
    let key = match &*request.method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let Some(named) = request.params.member(key).and_then(|name| name.text()) else { return Ok(()) };
    same(headers, NAME, &format!("params.{key}"), Some(&named))?;
    if &*request.method != "tools/call" {
        return Ok(());
    }
    check_mirrors(request, headers, &mirrors(&named))
}

/// What `_meta` of every request of 2026-07-28 must have.
pub(super) fn check_meta(meta: &Meta) -> Result<(), RpcError> {
    let given = [
        ("io.modelcontextprotocol/protocolVersion", meta.version.is_some()),
        ("io.modelcontextprotocol/clientCapabilities", meta.capabilities.is_some()),
    ];
    let missing: Vec<&str> = given.iter().filter(|(_, is_given)| !is_given).map(|(key, _)| *key).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("`_meta` of the request has no usable {}", missing.join(", "));
    Err(RpcError::invalid_params(message).malformed())
}

fn check_mirrors(request: &Request, headers: &HeaderMap, mirrors: &[Mirror]) -> Result<(), RpcError> {
    if mirrors.is_empty() {
        return Ok(());
    }
    let arguments: Value = request.params.member("arguments").and_then(|json| json.to().ok()).unwrap_or_default();
    for Mirror { path, header } in mirrors {
        let value = path.iter().try_fold(&arguments, |value, key| value.get(key));
        let said = match value {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
            _ => None,
        };
        same(headers, &format!("{PARAM}{}", header.to_ascii_lowercase()), &path.join("."), said.as_deref())?;
    }
    Ok(())
}

/// Whether a header says what stands in the body; where that is nothing, there must be none.
fn same(headers: &HeaderMap, name: &str, place: &str, body: Option<&str>) -> Result<(), RpcError> {
    let said = only(headers, name)?;
    let (said, body) = match (said, body) {
        (None, None) => return Ok(()),
        (Some(said), Some(body)) => (said, body),
        (None, Some(_)) => return Err(RpcError::header_mismatch(format!("the header {name} for {place} is missing"))),
        (Some(_), None) => {
            return Err(RpcError::header_mismatch(format!("the header {name} is there and {place} is not")));
        }
    };
    match decoded(said) {
        Some(said) if said == body => Ok(()),
        Some(said) => Err(RpcError::header_mismatch(format!("the header {name} says {said}, {place} says {body}"))),
        None => Err(RpcError::header_mismatch(format!("the header {name} is no valid Base64"))),
    }
}

fn decoded(said: &str) -> Option<String> {
    match said.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
        None => Some(said.to_owned()),
    }
}

/// The one value of a header. Whoever stands between must not be able to read another one than we do.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(RpcError::header_mismatch(format!("the header {name} stands there twice")));
    }
    let readable = value.to_str().map(|value| Some(value.trim()));
    readable.map_err(|_| RpcError::header_mismatch(format!("the header {name} has characters that it must not have")))
}

/// The id of a message that could not be read, for its answer.
pub(super) fn id_or_null(id: Option<JsonText>) -> JsonText {
    id.unwrap_or_else(JsonText::null)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn call() -> Request {
        let params = r#"{"name":"t","arguments":{"region":"Hello"},"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
        Request { id: JsonText::string("1"), method: "tools/call".into(), params: JsonText::parse(params).unwrap() }
    }

    fn checked(pairs: &[(&'static str, &str)]) -> i64 {
        let call = call();
        let mirrors = vec![Mirror { path: vec!["region".to_owned()], header: "Region".to_owned() }].into();
        check_modern(&call, &call.meta(), &headers(pairs), |_| mirrors).err().map_or(0, |error| error.code)
    }

    #[test]
    fn headers_must_say_what_the_body_says() {
        let right = [(VERSION, MODERN), (METHOD, "tools/call"), (NAME, "t"), ("mcp-param-region", "Hello")];
        assert_eq!(checked(&right), 0);
        let with = |at: usize, value: &'static str| {
            let mut pairs = right;
            pairs[at].1 = value;
            checked(&pairs)
        };
        assert_eq!(with(3, "=?base64?SGVsbG8=?="), 0);
        for (at, value) in [
            (0, "2025-11-25"),
            (1, "TOOLS/CALL"),
            (2, "other"),
            (3, "=?base64?SGVsbG8?="),
            (3, "=?base64?SGVs!!!bG8=?="),
            (3, "hello"),
        ] {
            assert_eq!(with(at, value), RpcError::HEADER_MISMATCH, "{value}");
        }
        for at in 0..right.len() {
            let mut pairs = right.to_vec();
            pairs.remove(at);
            assert_eq!(checked(&pairs), RpcError::HEADER_MISMATCH, "without {}", right[at].0);
        }
    }

    #[test]
    fn ranges_of_types_are_read() {
        for (accept, json, events) in [
            ("application/json, text/event-stream", true, true),
            ("*/*", true, true),
            ("application/*;q=0.5", true, false),
            ("text/event-stream", false, true),
        ] {
            let headers = headers(&[("accept", accept)]);
            assert_eq!((accepts(&headers, JSON), accepts(&headers, EVENT_STREAM)), (json, events), "{accept}");
        }
    }
}

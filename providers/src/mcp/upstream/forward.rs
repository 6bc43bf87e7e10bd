//! Headers that a batch hands on to a server.

use reqwest::header::HeaderName;
use serde_json::{Map, Value};

/// Where a batch's context has them.
const METADATA_KEY: &str = "headers";
/// Headers that nobody may hand on: they say who asks Toolyard, or are the business of the connection.
const NEVER: [&str; 14] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "last-event-id",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Why a header cannot be handed on, if so.
pub fn unforwardable(name: &HeaderName) -> Option<&'static str> {
    if name.as_str().starts_with("mcp-") {
        return Some("belongs to the protocol");
    }
    NEVER.contains(&name.as_str()).then_some("is never handed on; give the server its own in `headers` or `oauth`")
}

/// The headers that this context sets and the configuration allows.
pub(super) fn forwarded(allowed: &[HeaderName], metadata: &Map<String, Value>) -> Vec<(String, String)> {
    let Some(Value::Object(headers)) = metadata.get(METADATA_KEY) else { return Vec::new() };
    let wanted = |name: &str| allowed.iter().any(|allowed| allowed.as_str().eq_ignore_ascii_case(name));
    let texts = headers.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    texts.filter(|(name, _)| wanted(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_is_allowed_is_handed_on_and_credentials_cannot_be() {
        let allowed: Vec<HeaderName> = vec!["x-request-id".parse().unwrap()];
        let metadata =
            json!({"headers": {"Authorization": "Bearer t", "x-mcp-auth": "t", "X-Request-Id": "7", "n": 1}});
        let forwarded = forwarded(&allowed, metadata.as_object().unwrap());
        assert_eq!(forwarded, [("X-Request-Id".to_owned(), "7".to_owned())]);
        for (name, is_refused) in
            [("authorization", true), ("mcp-name", true), ("cookie", true), ("x-request-id", false)]
        {
            assert_eq!(unforwardable(&name.parse().unwrap()).is_some(), is_refused, "{name}");
        }
    }
}

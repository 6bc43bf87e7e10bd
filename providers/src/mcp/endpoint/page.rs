//! Page: lists with cursors of our own, which say after which entry to go on.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;
use toolyard::JsonText;

use super::error::RpcError;
use super::held::Outcome;
use super::message::Request;
use super::peer::Peer;

/// How long a client of 2026-07-28 may take a list for current, in milliseconds. Changes are told besides.
const LIST_TTL_MS: u64 = 5_000;

#[derive(Deserialize)]
struct ListParams {
    cursor: Option<String>,
}

/// After which entry a list goes on.
///
/// # Errors
/// The cursor was not given out here.
pub(super) fn after(request: &Request) -> Result<Option<String>, RpcError> {
    let ListParams { cursor } = request.read()?;
    let Some(cursor) = cursor else { return Ok(None) };
    let name = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    name.map(Some).ok_or_else(|| RpcError::invalid_params("the cursor was not given out here"))
}

/// One page of a list. `last` is the key of its last entry, where there are more.
pub(super) fn page(key: &str, entries: Vec<JsonText>, last: Option<&str>, peer: &Peer) -> JsonText {
    let mut members = vec![(key, JsonText::array(entries))];
    members.extend(last.map(|last| ("nextCursor", JsonText::string(&BASE64_URL_SAFE_NO_PAD.encode(last)))));
    if peer.is_modern() {
        members.push(("resultType", JsonText::string("complete")));
        members.extend(cache_hints(LIST_TTL_MS));
    }
    JsonText::object(members)
}

/// How long a result may be taken for current, and by whom: never by others than who asked.
pub(super) fn cache_hints(ttl_ms: u64) -> [(&'static str, JsonText); 2] {
    [("ttlMs", JsonText::from(serde_json::Value::from(ttl_ms))), ("cacheScope", JsonText::string("private"))]
}

/// A result with the hints that its client's revision asks for, where it has none.
pub(super) fn with_cache_hints(result: JsonText, peer: &Peer) -> Outcome {
    if !peer.is_modern() {
        return Ok(result);
    }
    let mut result = result;
    for (key, value) in cache_hints(0) {
        if !result.as_str().contains(key) || result.member(key).is_none() {
            result = super::render::with_member(&result, key, &value);
        }
    }
    Ok(result)
}

//! Results of calls as MCP writes them: whole where the tool's own protocol is MCP, else made from the engine's.

use toolyard::{CallResult, ContentItem, ContentType, JsonText};

use super::error::RpcError;
use super::held::Outcome;
use super::peer::Peer;

/// The result of a call for this client.
pub(super) fn result(mut call: CallResult, peer: &Peer) -> Outcome {
    if let Some(code) = call.result.metadata.get("jsonrpc_code").and_then(serde_json::Value::as_i64) {
        return Err(match call.result.native.take() {
            Some(error) if error.as_str().starts_with('{') => RpcError::relayed(code, error),
            _ => RpcError::new(code, call.result.error_message.unwrap_or_default()),
        });
    }
    let result = call.result.native.take().unwrap_or_else(|| made(&call, peer));
    Ok(for_era(result, peer))
}

/// The same result with what its client's revision needs, and without what it does not know.
pub(super) fn for_era(result: JsonText, peer: &Peer) -> JsonText {
    let text = result.as_str();
    if peer.is_modern() {
        return if text.contains("\"resultType\"") && result.member("resultType").is_some() {
            result
        } else {
            with_member(&result, "resultType", &JsonText::string("complete"))
        };
    }
    if !text.contains("\"resultType\"") && !text.contains("\"structuredContent\"") {
        return result;
    }
    let Some(members) = result.members() else { return result };
    let kept = |key: &str, value: &JsonText| match key {
        "resultType" => false,
        "structuredContent" => value.as_str().starts_with('{'),
        _ => true,
    };
    if members.iter().all(|(key, value)| kept(key, value)) {
        return result;
    }
    let members = members.iter().filter(|(key, value)| kept(key, value));
    JsonText::object(members.map(|(key, value)| (key.as_str(), value.clone())))
}

/// The object with one member more, in front.
pub(super) fn with_member(object: &JsonText, key: &str, value: &JsonText) -> JsonText {
    let Some(rest) = object.as_str().strip_prefix('{') else { return object.clone() };
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    let text = format!("{{\"{key}\":{value}{comma}{rest}");
    JsonText::parse(&text).unwrap_or_else(|_| object.clone())
}

fn made(call: &CallResult, peer: &Peer) -> JsonText {
    let result = &call.result;
    let is_success = call.is_success();
    let text = match (&*result.content, result.content_items.is_empty()) {
        ("", false) if is_success => None,
        _ => Some(call.history_content()),
    };
    let text = text.map(|text| text_block(&text));
    let items = result.content_items.iter().enumerate().map(|(index, item)| block(item, &call.call_id, index));
    let content = JsonText::array(text.into_iter().chain(items));
    let structured = result.structured_content.clone();
    let structured = structured.filter(|json| peer.is_modern() || json.as_str().starts_with('{'));
    let members = [("content", content)].into_iter();
    let members = members.chain(structured.map(|structured| ("structuredContent", structured)));
    JsonText::object(members.chain([("isError", JsonText::boolean(!is_success))]))
}

fn text_block(text: &str) -> JsonText {
    JsonText::object([("type", JsonText::string("text")), ("text", JsonText::string(text))])
}

fn block(item: &ContentItem, call_id: &toolyard::CallId, index: usize) -> JsonText {
    let mime_type = item.mime_type.as_deref().map(|mime_type| ("mimeType", JsonText::string(mime_type)));
    let address = || match &item.uri {
        Some(uri) => JsonText::string(uri),
        None => JsonText::string(&format!("toolyard:result/{call_id}/{index}")),
    };
    if let Some((mime_type, data)) = item.image_base64() {
        return media("image", data, mime_type);
    }
    match (item.content_type, &item.data) {
        (ContentType::Text, _) => text_block(item.text.as_deref().unwrap_or_default()),
        (ContentType::Audio, Some(data)) => media("audio", data, item.mime_type.as_deref().unwrap_or("audio/wav")),
        (ContentType::Unknown, _) => text_block("[an item that cannot be shown]"),
        (ContentType::ResourceLink | ContentType::Image | ContentType::Audio, None) => {
            let name = item.name.as_deref().or(item.uri.as_deref()).unwrap_or("resource");
            let description = item.description.as_deref().map(|text| ("description", JsonText::string(text)));
            let members =
                [("type", JsonText::string("resource_link")), ("uri", address()), ("name", JsonText::string(name))];
            JsonText::object(members.into_iter().chain(description).chain(mime_type))
        }
        _ => {
            let body = match &item.data {
                Some(data) => ("blob", JsonText::string(data)),
                None => ("text", JsonText::string(item.text.as_deref().unwrap_or_default())),
            };
            let resource = JsonText::object([("uri", address())].into_iter().chain(mime_type).chain([body]));
            JsonText::object([("type", JsonText::string("resource")), ("resource", resource)])
        }
    }
}

fn media(kind: &str, data: &str, mime_type: &str) -> JsonText {
    JsonText::object([
        ("type", JsonText::string(kind)),
        ("data", JsonText::string(data)),
        ("mimeType", JsonText::string(mime_type)),
    ])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolyard::SessionKey;

    use super::super::meta::ClientCapabilities;
    use super::super::session::{Offered, Session};
    use super::*;

    fn legacy() -> Peer {
        let key = SessionKey { tenant: "".into(), session: "s".into() };
        Peer::legacy(Arc::new(Session::new(key, ClientCapabilities::default(), Offered::default())))
    }

    fn modern() -> Peer {
        Peer::modern(&"".into(), ClientCapabilities::default(), None)
    }

    fn adapted(text: &str, peer: &Peer) -> String {
        for_era(JsonText::parse(text).unwrap(), peer).as_str().to_owned()
    }

    #[test]
    fn results_keep_every_byte_that_their_client_can_read() {
        let odd = r#"{"content":[{"type":"new","x":123456789012345678901234567890}],"_meta":{"a":1},"structuredContent":{"n":1e400}}"#;
        assert_eq!(adapted(odd, &legacy()), odd);
        assert_eq!(adapted(odd, &modern()), format!("{{\"resultType\":\"complete\",{}", &odd[1..]));
        assert_eq!(adapted("{ }", &modern()), r#"{"resultType":"complete" }"#);
    }

    #[test]
    fn older_clients_get_nothing_that_they_do_not_know() {
        assert_eq!(
            adapted(r#"{"content":[],"resultType":"complete","structuredContent":[1]}"#, &legacy()),
            r#"{"content":[]}"#
        );
        let task = r#"{"resultType":"other","content":[]}"#;
        assert_eq!(adapted(task, &modern()), task);
    }
}

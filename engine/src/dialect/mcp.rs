//! MCP `tools/call`: requests in, responses out.

use serde_json::value::RawValue;

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, is_list};
use super::{Dialect, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

/// Reads one request, or a list of them. Its id and `_meta` are kept as they stand.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let requests: Vec<&RawValue> =
        if is_list(document) { serde_json::from_str(document.get()).unwrap_or_default() } else { vec![document] };
    let mut builder = ReplyBuilder::default();
    for request in requests.into_iter().map(Fields::of) {
        if request.text("method") != "tools/call" {
            let reason = "a request's `method` is not `tools/call`".to_owned();
            return Err(ReplyError::NotInForm { format: Dialect::Mcp.as_str(), reason });
        }
        let params = request.object("params");
        let mut opaque = request.others(&["jsonrpc", "method", "params"]);
        opaque.extend(params.others(&["name", "arguments"]));
        let opaque: Vec<(&str, JsonText)> = opaque.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let arguments = arguments(params.get("arguments"), false);
        builder.call(
            ToolCall::new(request.text("id"), params.text("name"), arguments)
                .with_opaque(Some(JsonText::object(opaque))),
        );
    }
    Ok(builder.build())
}

/// A response per request. Faults in a call are results with `isError`, so that a model can mend them.
pub(super) fn messages(results: &[CallResult], media: MediaMode) -> Vec<JsonText> {
    results.iter().map(|result| response(result, media)).collect()
}

fn response(result: &CallResult, media: MediaMode) -> JsonText {
    let id = result.opaque.as_ref().and_then(|opaque| opaque.member("id"));
    let pictures = media.inside(result);
    let text = JsonText::string(&result.history_content());
    let text = JsonText::object([("type", JsonText::string("text")), ("text", text)]);
    let content = JsonText::array(std::iter::once(text).chain(pictures.iter().map(image)));
    let structured = result.result.structured_content.clone().filter(|json| json.as_str().starts_with('{'));
    let members = [("content", content), ("isError", JsonText::boolean(!result.is_success()))];
    let members = members.into_iter().chain(structured.map(|json| ("structuredContent", json)));
    JsonText::object([
        ("jsonrpc", JsonText::string("2.0")),
        ("id", id.unwrap_or_else(|| JsonText::string(result.call_id.as_str()))),
        ("result", JsonText::object(members)),
    ])
}

fn image(picture: &Picture<'_>) -> JsonText {
    JsonText::object([
        ("type", JsonText::string("image")),
        ("data", JsonText::string(picture.data)),
        ("mimeType", JsonText::string(picture.mime_type)),
    ])
}

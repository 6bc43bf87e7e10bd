//! MCP `tools/call`: requests in, responses out.

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document};
use super::{Dialect, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::outline::Outline;
use crate::json::write::{JsonWriter, ListWriter, ObjectWriter};
use crate::result::CallResult;

/// Reads one request, or a list of them. Its id and `_meta` are kept as they stand.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let requests = document.root().items().unwrap_or_else(|| vec![document.root()]);
    let mut builder = ReplyBuilder::with_room_for(requests.len());
    for request in requests.into_iter().map(Fields::of) {
        if request.text("method") != "tools/call" {
            let reason = "a request's `method` is not `tools/call`".to_owned();
            return Err(ReplyError::NotInForm { format: Dialect::Mcp.as_str(), reason });
        }
        let params = request.object("params");
        let opaque = JsonWriter::default().object(|opaque| {
            request.write_others(&["jsonrpc", "method", "params"], opaque);
            params.write_others(&["name", "arguments"], opaque);
        });
        let arguments = arguments(params.get("arguments"), false);
        builder.call(ToolCall::new(&*request.text("id"), params.text("name"), arguments).with_opaque(Some(opaque)));
    }
    Ok(builder.build())
}

/// A response per request. Faults in a call are results with `isError`, so that a model can mend them.
pub(super) fn messages(results: &[CallResult], media: MediaMode) -> Vec<JsonText> {
    let mut writer = JsonWriter::default();
    results.iter().map(|result| writer.object(|response| write_response(result, media, response))).collect()
}

fn write_response(result: &CallResult, media: MediaMode, response: &mut ObjectWriter<'_>) {
    response.text("jsonrpc", "2.0");
    let opaque = result.opaque.as_ref().map(|opaque| Outline::of(opaque.as_str()));
    match opaque.as_ref().and_then(|opaque| opaque.root().get("id")) {
        Some(id) => response.raw("id", id.raw()),
        None => response.text("id", result.call_id.as_str()),
    }
    response.object("result", |own| {
        own.list("content", |blocks| {
            blocks.object(|block| {
                block.text("type", "text");
                block.text("text", &result.history_text());
            });
            media.inside(result).iter().for_each(|picture| write_image(picture, blocks));
        });
        own.boolean("isError", !result.is_success());
        if let Some(json) = result.result.structured_content.as_ref().filter(|json| json.as_str().starts_with('{')) {
            own.json("structuredContent", json);
        }
    });
}

fn write_image(picture: &Picture<'_>, blocks: &mut ListWriter<'_>) {
    blocks.object(|block| {
        block.text("type", "image");
        block.text("data", picture.data);
        block.text("mimeType", picture.mime_type);
    });
}

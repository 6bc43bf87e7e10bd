//! Toolyard's own form, for backends that have read the model's reply themselves.

use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing, verbatim};
use super::{Dialect, IdRule};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::write::JsonWriter;
use crate::result::CallResult;

/// Reads `{"calls": […]}`, or the list alone.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let fields = Fields::of(document.root());
    let calls = document.root().items().or_else(|| fields.list("calls"));
    let calls = calls.ok_or_else(|| missing(Dialect::Native.as_str(), "calls"))?;
    let mut builder = ReplyBuilder::with_room_for(calls.len());
    for call in calls.into_iter().map(Fields::of) {
        let arguments = arguments(call.get("arguments"), false);
        let opaque = call.get("opaque").map(verbatim);
        builder.call(ToolCall::new(&*call.text("call_id"), call.text("tool"), arguments).with_opaque(opaque));
    }
    builder.reasoning(&fields.text("reasoning"));
    Ok(builder.build())
}

pub(super) fn messages(results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    let mut writer = JsonWriter::default();
    let message = |result: &CallResult| {
        writer.object(|message| {
            message.text("role", "tool");
            message.text("call_id", &ids.apply(result.call_id.as_str()));
            message.text("tool", &result.tool);
            message.text("content", &result.history_text());
            message.boolean("is_error", !result.is_success());
        })
    };
    results.iter().map(message).collect()
}

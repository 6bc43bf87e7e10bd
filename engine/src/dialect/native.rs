//! Toolyard's own form, for backends that have read the model's reply themselves.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Dialect;
use super::reply::{Fields, ParsedReply, ReplyError, arguments, document, is_list, missing};
use crate::call::ToolCall;
use crate::registry::ListedTool;
use crate::result::CallResult;

/// Reads `{"calls": […]}`, or the list alone.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let fields = Fields::of(document);
    let calls = if is_list(document) { serde_json::from_str(document.get()).ok() } else { fields.list("calls") };
    let calls: Vec<&RawValue> = calls.ok_or_else(|| missing(Dialect::Native.as_str(), "calls"))?;
    let calls = calls
        .into_iter()
        .map(Fields::of)
        .map(|call| ToolCall::new(call.text("call_id"), call.text("tool"), arguments(call.get("arguments"), false)))
        .collect();
    Ok(ParsedReply { calls, reasoning: fields.text("reasoning") })
}

pub(super) fn definition(tool: &ListedTool) -> Value {
    json!(tool)
}

pub(super) fn messages(results: &[CallResult]) -> Vec<Value> {
    results
        .iter()
        .map(|result| {
            json!({
                "role": "tool",
                "call_id": result.call_id,
                "tool": result.tool,
                "content": result.history_content(),
                "is_error": !result.is_success(),
            })
        })
        .collect()
}

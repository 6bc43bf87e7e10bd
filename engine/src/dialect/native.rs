//! Toolyard's own form, for backends that have read the model's reply themselves.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Dialect;
use super::reply::{ParsedReply, ReplyError, arguments, document};
use crate::call::ToolCall;
use crate::registry::ListedTool;
use crate::result::CallResult;

#[derive(Deserialize)]
struct Calls<'a> {
    #[serde(borrow)]
    calls: Vec<&'a RawValue>,
    #[serde(default)]
    reasoning: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    call_id: Option<String>,
    tool: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Reads `{"calls": […]}`, or the list alone.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let format = Dialect::Native.as_str();
    let Calls { calls, reasoning } = if reply.trim_start().starts_with('[') {
        Calls { calls: document(reply, format)?, reasoning: String::new() }
    } else {
        document(reply, format)?
    };
    let calls = calls
        .into_iter()
        .map(|entry| {
            let call: Call<'_> = serde_json::from_str(entry.get()).unwrap_or_default();
            let arguments = arguments(call.arguments, false);
            ToolCall::new(call.call_id.unwrap_or_default(), call.tool.unwrap_or_default(), arguments)
        })
        .collect();
    Ok(ParsedReply { calls, reasoning })
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

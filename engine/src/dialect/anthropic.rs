//! Anthropic messages.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::reply::{ParsedReply, ReplyError, arguments, document};
use super::{Dialect, images};
use crate::call::ToolCall;
use crate::registry::ListedTool;
use crate::result::CallResult;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    stop_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    text: Option<String>,
    thinking: Option<String>,
}

/// Reads the `tool_use` blocks. When the reply ran into its token limit, its last block is cut off.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let message: Message<'_> = document(reply, Dialect::Anthropic.as_str())?;
    let cut_off = message.stop_reason.as_deref() == Some("max_tokens");
    let last = message.content.len().saturating_sub(1);
    let mut parsed = ParsedReply::default();
    let mut beside = String::new();
    for (index, block) in message.content.iter().enumerate() {
        let block: Block<'_> = serde_json::from_str(block.get()).unwrap_or_default();
        match block.kind.as_str() {
            "tool_use" => {
                let arguments = arguments(block.input, cut_off && index == last);
                let (id, name) = (block.id.unwrap_or_default(), block.name.unwrap_or_default());
                parsed.calls.push(ToolCall::new(id, name, arguments));
            }
            "thinking" => parsed.reasoning.push_str(&block.thinking.unwrap_or_default()),
            "text" => beside.push_str(&block.text.unwrap_or_default()),
            _ => {}
        }
    }
    if parsed.reasoning.is_empty() {
        parsed.reasoning = beside;
    }
    Ok(parsed)
}

pub(super) fn definition(tool: &ListedTool) -> Value {
    json!({
        "name": tool.model_name,
        "description": tool.spec.description,
        "input_schema": tool.spec.parameters_schema,
    })
}

/// One user message with a `tool_result` block per call; pictures stand inside their block.
pub(super) fn messages(results: &[CallResult]) -> Vec<Value> {
    if results.is_empty() {
        return Vec::new();
    }
    let blocks: Vec<Value> = results.iter().map(block).collect();
    vec![json!({"role": "user", "content": blocks})]
}

fn block(result: &CallResult) -> Value {
    let text = result.history_content();
    let pictures = images(result);
    let content = if pictures.is_empty() {
        json!(text)
    } else {
        let mut content = vec![json!({"type": "text", "text": text})];
        content.extend(pictures.into_iter().map(|(_, (mime, data))| {
            json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}})
        }));
        json!(content)
    };
    let mut block = json!({"type": "tool_result", "tool_use_id": result.call_id, "content": content});
    if !result.is_success() {
        block["is_error"] = json!(true);
    }
    block
}

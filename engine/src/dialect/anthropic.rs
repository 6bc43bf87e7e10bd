//! Anthropic messages.

use serde_json::{Value, json};

use super::reply::{Fields, ParsedReply, ReplyError, arguments, document, missing};
use super::{Dialect, images};
use crate::call::ToolCall;
use crate::registry::ListedTool;
use crate::result::CallResult;

/// Why a reply can stop before its last block is complete.
const CUT_OFF: [&str; 2] = ["max_tokens", "model_context_window_exceeded"];

/// Reads the `tool_use` blocks. When the reply ran into a token limit, its last block is cut off.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let message = Fields::of(document(reply)?);
    let blocks = message.list("content").ok_or_else(|| missing(Dialect::Anthropic.as_str(), "content"))?;
    let is_cut_off = CUT_OFF.contains(&message.text("stop_reason").as_str());
    let last = blocks.len().saturating_sub(1);
    let mut parsed = ParsedReply::default();
    let mut beside = String::new();
    for (index, block) in blocks.into_iter().map(Fields::of).enumerate() {
        match block.text("type").as_str() {
            "tool_use" => {
                let arguments = arguments(block.get("input"), is_cut_off && index == last);
                parsed.calls.push(ToolCall::new(block.text("id"), block.text("name"), arguments));
            }
            "thinking" => parsed.reasoning.push_str(&block.text("thinking")),
            "text" => beside.push_str(&block.text("text")),
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

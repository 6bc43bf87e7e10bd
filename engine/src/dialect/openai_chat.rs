//! OpenAI chat completions.

use serde_json::{Value, json};

use super::reply::{Fields, ParsedReply, ReplyError, arguments, document, missing};
use super::{Dialect, images};
use crate::call::ToolCall;
use crate::registry::ListedTool;
use crate::result::CallResult;

/// Reads the first choice; a bot asks for one. An old `function_call` counts as its only call.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let completion = Fields::of(document(reply)?);
    let choices = completion.list("choices").ok_or_else(|| missing(Dialect::OpenAiChat.as_str(), "choices"))?;
    let Some(choice) = choices.first().map(|choice| Fields::of(choice)) else {
        return Ok(ParsedReply::default());
    };
    let message = choice.object("message");
    let mut functions: Vec<(String, Fields<'_>)> = message
        .list("tool_calls")
        .unwrap_or_default()
        .into_iter()
        .map(Fields::of)
        .map(|call| (call.text("id"), call.object("function")))
        .collect();
    if functions.is_empty() && message.get("function_call").is_some() {
        functions.push((String::new(), message.object("function_call")));
    }
    let cut_off_at = (choice.text("finish_reason") == "length").then(|| functions.len().saturating_sub(1));
    let calls = functions
        .into_iter()
        .enumerate()
        .map(|(index, (id, function))| {
            let arguments = arguments(function.get("arguments"), cut_off_at == Some(index));
            ToolCall::new(id, function.text("name"), arguments)
        })
        .collect();
    let beside = ["reasoning", "reasoning_content", "content"].into_iter().map(|key| message.text(key));
    Ok(ParsedReply { calls, reasoning: beside.into_iter().find(|text| !text.is_empty()).unwrap_or_default() })
}

pub(super) fn definition(tool: &ListedTool) -> Value {
    json!({"type": "function", "function": {
        "name": tool.model_name,
        "description": tool.spec.description,
        "parameters": tool.spec.parameters_schema,
    }})
}

/// A tool message per call; then the pictures of all of them in one user message, since tool messages take text only.
pub(super) fn messages(results: &[CallResult]) -> Vec<Value> {
    let mut messages: Vec<Value> = results
        .iter()
        .map(|result| json!({"role": "tool", "tool_call_id": result.call_id, "content": result.history_content()}))
        .collect();
    let pictures: Vec<Value> = results
        .iter()
        .flat_map(images)
        .flat_map(|(reference, (mime, data))| {
            let url = format!("data:{mime};base64,{data}");
            [json!({"type": "text", "text": reference}), json!({"type": "image_url", "image_url": {"url": url}})]
        })
        .collect();
    if !pictures.is_empty() {
        messages.push(json!({"role": "user", "content": pictures}));
    }
    messages
}

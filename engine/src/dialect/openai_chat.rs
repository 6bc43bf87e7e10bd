//! OpenAI chat completions.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::reply::{ParsedReply, ReplyError, arguments, document};
use super::{Dialect, images};
use crate::call::ToolCall;
use crate::registry::ListedTool;
use crate::result::CallResult;

#[derive(Deserialize)]
struct Completion<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Message<'a>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    tool_calls: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "reasoning_content")]
    reasoning: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    id: Option<String>,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Reads the first choice; a bot asks for one.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let completion: Completion<'_> = document(reply, Dialect::OpenAiChat.as_str())?;
    let Some(choice) = completion.choices.into_iter().next() else {
        return Ok(ParsedReply::default());
    };
    let entries = choice.message.tool_calls.unwrap_or_default();
    let cut_off_at = (choice.finish_reason.as_deref() == Some("length")).then(|| entries.len().saturating_sub(1));
    let calls = entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| {
            let call: Call<'_> = serde_json::from_str(entry.get()).unwrap_or_default();
            let arguments = arguments(call.function.arguments, cut_off_at == Some(index));
            ToolCall::new(call.id.unwrap_or_default(), call.function.name.unwrap_or_default(), arguments)
        })
        .collect();
    let reasoning = text(choice.message.reasoning).or_else(|| text(choice.message.content)).unwrap_or_default();
    Ok(ParsedReply { calls, reasoning })
}

fn text(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok().filter(|text: &String| !text.is_empty())
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

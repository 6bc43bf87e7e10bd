//! Forms in which calls and results are parts of messages: Anthropic messages, Gemini contents.

use std::borrow::Cow;

use super::super::conversation::{AnswerParts, ArgumentForm, CallParts, Parts, PartsBody};
use super::super::raw::{self, Members};
use super::Unanswered;
use crate::json::JsonText;

/// Results may join whatever the user said next: the vendor takes both in one message, results first.
pub(super) fn read_anthropic(raw: &str) -> Parts<'_> {
    let message = Members::of(raw);
    let Some(content) = message.get("content") else {
        return Parts::default();
    };
    let mut parts = Parts::default();
    let may_host = message.says("role", "user");
    let Some(list) = raw::items(content) else {
        let said = content.starts_with('"').then(|| raw::text(content)).filter(|said| !said.value.trim().is_empty());
        let blocks = said.map(|_| Some(Cow::Owned(format!(r#"{{"type":"text","text":{content}}}"#))));
        let may_host = may_host && content.starts_with('"');
        parts.body = Some(PartsBody { list: content, blocks: blocks.into_iter().collect(), may_host });
        return parts;
    };
    let mut blocks = Vec::with_capacity(list.len());
    for raw in list {
        let block = Members::of(raw);
        if block.says("type", "tool_use") {
            let (id, name) = (block.place("id"), block.place("name"));
            parts.calls.push(CallParts::of(id, name, block.place("input"), ArgumentForm::Object));
        }
        if block.says("type", "tool_result") {
            let (id, name) = (block.place("tool_use_id"), block.place("name"));
            parts.answers.push(AnswerParts::of(raw, id, name, block.place("content")));
            blocks.push(None);
        } else {
            blocks.push(Some(Cow::Borrowed(raw)));
        }
    }
    parts.body = Some(PartsBody { list: content, blocks, may_host });
    parts
}

/// Responses stand in a content of their own: the vendor counts them against the calls before.
pub(super) fn read_gemini(raw: &str) -> Parts<'_> {
    let content = Members::of(raw);
    let mut parts = Parts::default();
    let Some(list) = content.get("parts") else {
        return parts;
    };
    let Some(items) = raw::items(list) else {
        return parts;
    };
    let mut blocks = Vec::with_capacity(items.len());
    for raw in items {
        let part = Members::of(raw);
        let object = |camel: &str, snake: &str| {
            part.get(camel).or_else(|| part.get(snake)).filter(|raw| raw::is_object(raw)).map(Members::of)
        };
        if let Some(call) = object("functionCall", "function_call") {
            let (id, name) = (call.place("id"), call.place("name"));
            parts.calls.push(CallParts::of(id, name, call.place("args"), ArgumentForm::OptionalObject));
            blocks.push(Some(Cow::Borrowed(raw)));
        } else if let Some(response) = object("functionResponse", "function_response") {
            let (id, name) = (response.place("id"), response.place("name"));
            parts.answers.push(AnswerParts::of(raw, id, name, response.place("response")));
            blocks.push(None);
        } else {
            blocks.push(Some(Cow::Borrowed(raw)));
        }
    }
    let may_host = !parts.answers.is_empty() && !content.says("role", "model");
    parts.body = Some(PartsBody { list, blocks, may_host });
    parts
}

pub(super) fn not_executed_anthropic(call: &Unanswered<'_>) -> JsonText {
    JsonText::object([
        ("type", JsonText::string("tool_result")),
        ("tool_use_id", JsonText::string(call.id.unwrap_or_default())),
        ("content", JsonText::string(call.text)),
        ("is_error", JsonText::from(serde_json::Value::Bool(true))),
    ])
}

pub(super) fn not_executed_gemini(call: &Unanswered<'_>) -> JsonText {
    let mut response = Vec::new();
    response.extend(call.id.map(|id| ("id", JsonText::string(id))));
    response.push(("name", JsonText::string(call.tool)));
    response.push(("response", JsonText::object([("error", JsonText::string(call.text))])));
    JsonText::object([("functionResponse", JsonText::object(response))])
}

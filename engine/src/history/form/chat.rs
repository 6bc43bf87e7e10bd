//! Forms in which a reply is one message and each result another: OpenAI chat completions, Ollama, Toolyard's own.

use super::super::conversation::{AnswerParts, ArgumentForm, CallParts, Parts};
use super::super::raw::{self, Members};
use super::Unanswered;
use crate::json::JsonText;

/// The keys of one such form.
pub(super) struct ChatKeys {
    calls: &'static str,
    call_id: &'static str,
    /// Where in a call the name and the arguments stand, if not in the call itself.
    function: Option<&'static str>,
    name: &'static str,
    argument_form: ArgumentForm,
    result_id: &'static str,
    result_name: &'static str,
    /// Whether a result that is made names its tool and says that it is an error.
    is_explicit: bool,
    /// Whether there is an old way: `function_call`, and the role `function`.
    has_legacy: bool,
}

pub(super) const OPENAI: ChatKeys = ChatKeys {
    calls: "tool_calls",
    call_id: "id",
    function: Some("function"),
    name: "name",
    argument_form: ArgumentForm::Text,
    result_id: "tool_call_id",
    result_name: "name",
    is_explicit: false,
    has_legacy: true,
};

pub(super) const OLLAMA: ChatKeys =
    ChatKeys { argument_form: ArgumentForm::OptionalObject, result_name: "tool_name", has_legacy: false, ..OPENAI };

pub(super) const NATIVE: ChatKeys = ChatKeys {
    calls: "calls",
    call_id: "call_id",
    function: None,
    name: "tool",
    argument_form: ArgumentForm::Either,
    result_id: "call_id",
    result_name: "tool",
    is_explicit: true,
    has_legacy: false,
};

pub(super) fn read<'a>(keys: &ChatKeys, raw: &'a str) -> Parts<'a> {
    let message = Members::of(raw);
    if message.says("role", "tool") {
        let answer = AnswerParts::of(
            raw,
            message.place(keys.result_id),
            message.place(keys.result_name),
            message.place("content"),
        );
        return Parts { answers: vec![answer], ..Parts::default() };
    }
    if keys.has_legacy && message.says("role", "function") {
        let answer = AnswerParts::of(raw, message.place("id"), message.place("name"), message.place("content"));
        return Parts { answers: vec![answer.legacy()], ..Parts::default() };
    }
    let calls = message.get(keys.calls).and_then(raw::items).unwrap_or_default();
    let mut calls: Vec<CallParts<'a>> = calls.into_iter().filter_map(|call| read_call(keys, call)).collect();
    if calls.is_empty()
        && keys.has_legacy
        && let Some(raw) = message.get("function_call").filter(|raw| raw::is_object(raw))
    {
        let call = Members::of(raw);
        let (id, name, arguments) = (call.place("id"), call.place("name"), call.place("arguments"));
        calls.push(CallParts::of(id, name, arguments, keys.argument_form).legacy());
    }
    Parts { calls, ..Parts::default() }
}

/// What has no place for a name is no call.
fn read_call<'a>(keys: &ChatKeys, raw: &'a str) -> Option<CallParts<'a>> {
    if !raw::is_object(raw) {
        return None;
    }
    let call = Members::of(raw);
    let id = call.place(keys.call_id);
    let Some(function) = keys.function else {
        return Some(CallParts::of(id, call.place(keys.name), call.place("arguments"), keys.argument_form));
    };
    if let Some(function) = call.get(function).filter(|raw| raw::is_object(raw)) {
        let function = Members::of(function);
        return Some(CallParts::of(id, function.place(keys.name), function.place("arguments"), keys.argument_form));
    }
    let custom = Members::of(call.get("custom").filter(|raw| raw::is_object(raw))?);
    Some(CallParts::of(id, custom.place("name"), custom.place("input"), ArgumentForm::Free))
}

pub(super) fn not_executed(keys: &ChatKeys, call: &Unanswered<'_>) -> JsonText {
    let is_legacy = call.call.is_legacy;
    let is_named = keys.is_explicit || call.id.is_none() || keys.result_name != OPENAI.result_name;
    let mut members = vec![("role", JsonText::string(if is_legacy { "function" } else { "tool" }))];
    members.extend(call.id.map(|id| (keys.result_id, JsonText::string(id))));
    members.extend(is_named.then(|| (keys.result_name, JsonText::string(call.tool))));
    members.push(("content", JsonText::string(call.text)));
    members.extend(keys.is_explicit.then(|| ("is_error", JsonText::from(serde_json::Value::Bool(true)))));
    JsonText::object(members)
}

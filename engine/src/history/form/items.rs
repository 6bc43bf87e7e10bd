//! OpenAI responses: a flat list, in which each call and each result is an item.

use super::super::conversation::{AnswerParts, ArgumentForm, CallParts, Parts};
use super::super::raw::{self, Members};
use super::Unanswered;
use crate::json::JsonText;

/// Calls in a row are made at once, with the reasoning and the words of the model between them: the vendor wants those where
/// it put them.
pub(super) fn read(raw: &str) -> Parts<'_> {
    let item = Members::of(raw);
    let kind = item.get("type").map(|kind| raw::text(kind).value).unwrap_or_default();
    match kind.as_str() {
        "function_call" => call(&item, "arguments", ArgumentForm::Text),
        "custom_tool_call" => call(&item, "input", ArgumentForm::Free),
        "function_call_output" | "custom_tool_call_output" => {
            let answer = AnswerParts::of(raw, item.place("call_id"), item.place("name"), item.place("output"));
            Parts { answers: vec![answer], ..Parts::default() }
        }
        "reasoning" => Parts { goes_on: true, ..Parts::default() },
        "message" | "" if item.get("role").is_some_and(|role| raw::text(role).value == "assistant") => {
            Parts { goes_on: true, ..Parts::default() }
        }
        "item_reference" => Parts { is_reference: true, ..Parts::default() },
        _ => Parts::default(),
    }
}

fn call<'a>(item: &Members<'a>, arguments: &'static str, form: ArgumentForm) -> Parts<'a> {
    let call = CallParts::of(item.place("call_id"), item.place("name"), item.place(arguments), form);
    Parts { calls: vec![call], ..Parts::default() }
}

pub(super) fn not_executed(call: &Unanswered<'_>) -> JsonText {
    let is_custom = call.call.argument_form == ArgumentForm::Free;
    let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
    JsonText::object([
        ("type", JsonText::string(kind)),
        ("call_id", JsonText::string(call.id.unwrap_or_default())),
        ("output", JsonText::string(call.text)),
    ])
}

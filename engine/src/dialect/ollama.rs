//! Ollama chat.

use serde_json::value::RawValue;

use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document};
use super::turn::{AssistantTurn, HistoryCall};
use super::{Dialect, IdRule, MediaMode, role};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

/// Reads the calls of the one message.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let response = Fields::of(document(reply)?);
    if response.get("message").is_none() {
        let reason = "it has no object `message`".to_owned();
        return Err(ReplyError::NotInForm { format: Dialect::Ollama.as_str(), reason });
    }
    let message = response.object("message");
    let calls = message.list("tool_calls").unwrap_or_default();
    let is_cut_off = response.text("done_reason") == "length";
    let last = calls.len().saturating_sub(1);
    let mut builder = ReplyBuilder::new(message.others(&["tool_calls"]));
    for (index, call) in calls.into_iter().enumerate() {
        builder.call(one(call, is_cut_off && index == last));
    }
    builder.reasoning(&message.text("thinking"));
    builder.beside(&message.text("content"));
    Ok(builder.build())
}

fn one(call: &RawValue, cut_off: bool) -> ToolCall {
    let call = Fields::of(call);
    let function = call.object("function");
    let arguments = arguments(function.get("arguments"), cut_off);
    let mut opaque = call.others(&["function", "type"]);
    opaque.extend(function.opaque(&["name", "arguments"]).map(|extra| ("function".to_owned(), extra)));
    let opaque: Vec<(&str, JsonText)> = opaque.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    ToolCall::new(call.text("id"), function.text("name"), arguments)
        .with_opaque((!opaque.is_empty()).then(|| JsonText::object(opaque)))
}

/// The message with its calls.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    let calls = turn.calls(results, ids);
    let call = |call: &HistoryCall<'_>| {
        let members = call.opaque.and_then(JsonText::members).unwrap_or_default();
        let id = members.iter().any(|(key, _)| key == "id").then(|| ("id", JsonText::string(&call.id)));
        let function = [("name", JsonText::string(call.name)), ("arguments", call.arguments.clone())];
        JsonText::object(id.into_iter().chain([("function", JsonText::object(function))]))
    };
    turn.message(calls.iter().map(call).collect())
}

/// A tool message per call, then the pictures in a user message.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    let mut messages: Vec<JsonText> = results
        .iter()
        .map(|result| {
            let has_id = result.opaque.as_ref().is_some_and(|opaque| opaque.member("id").is_some());
            let id = has_id.then(|| ("tool_call_id", JsonText::string(&ids.apply(result.call_id.as_str()))));
            let members = [
                ("tool_name", JsonText::string(&result.model_name)),
                ("content", JsonText::string(&result.history_content())),
            ];
            role("tool", members.into_iter().chain(id))
        })
        .collect();
    messages.extend(media.groups(results.iter().flat_map(super::media::pictures)).map(|group| {
        let references: Vec<&str> = group.iter().map(|picture| picture.reference.as_str()).collect();
        let images = group.iter().map(|picture| JsonText::string(picture.data));
        role("user", [("content", JsonText::string(&references.join("\n"))), ("images", JsonText::array(images))])
    }));
    messages
}

//! Ollama chat.

use super::media::{Picture, pictures};
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document};
use super::turn::{AssistantTurn, HistoryCall};
use super::{Dialect, IdRule, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::outline::Outline;
use crate::json::write::{JsonWriter, ObjectWriter};
use crate::result::CallResult;

/// Reads the calls of the one message.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let response = Fields::of(document.root());
    if response.get("message").is_none() {
        let reason = "it has no object `message`".to_owned();
        return Err(ReplyError::NotInForm { format: Dialect::Ollama.as_str(), reason });
    }
    let message = response.object("message");
    let calls = message.list("tool_calls").unwrap_or_default();
    let is_cut_off = response.text("done_reason") == "length";
    let last = calls.len().saturating_sub(1);
    let mut builder = ReplyBuilder::with_room_for(calls.len());
    builder.members(message.others(&["tool_calls"]));
    for (index, call) in calls.into_iter().enumerate() {
        builder.call(one(Fields::of(call), is_cut_off && index == last));
    }
    builder.reasoning(&message.text("thinking"));
    builder.beside(&message.text("content"));
    Ok(builder.build())
}

fn one(call: Fields<'_>, cut_off: bool) -> ToolCall {
    let function = call.object("function");
    let arguments = arguments(function.get("arguments"), cut_off);
    let opaque = JsonWriter::default().object_unless_empty(|opaque| {
        call.write_others(&["function", "type"], opaque);
        if let Some(own) = function.opaque(&["name", "arguments"]) {
            opaque.json("function", &own);
        }
    });
    ToolCall::new(&*call.text("id"), function.text("name"), arguments).with_opaque(opaque)
}

/// The message with its calls.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    turn.message(&turn.calls(results, ids), write_call)
}

fn write_call(call: &HistoryCall<'_>, object: &mut ObjectWriter<'_>) {
    if has_id(call.opaque) {
        object.text("id", &call.id);
    }
    object.object("function", |function| {
        function.text("name", call.name);
        function.json("arguments", &call.arguments);
    });
}

/// A tool message per call, then the pictures in a user message.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    let mut writer = JsonWriter::default();
    let mut messages = Vec::with_capacity(results.len() + 1);
    messages.extend(results.iter().map(|result| {
        writer.object(|message| {
            message.text("role", "tool");
            message.text("tool_name", &result.model_name);
            message.text("content", &result.history_text());
            if has_id(result.opaque.as_ref()) {
                message.text("tool_call_id", &ids.apply(result.call_id.as_str()));
            }
        })
    }));
    let groups = media.groups(results.iter().flat_map(pictures));
    messages.extend(groups.map(|group| writer.object(|message| write_pictures(&group, message))));
    messages
}

fn has_id(opaque: Option<&JsonText>) -> bool {
    opaque.is_some_and(|opaque| Outline::of(opaque.as_str()).root().get("id").is_some())
}

fn write_pictures(group: &[Picture<'_>], message: &mut ObjectWriter<'_>) {
    let references: Vec<&str> = group.iter().map(|picture| picture.reference.as_str()).collect();
    message.text("role", "user");
    message.text("content", &references.join("\n"));
    message.list("images", |images| group.iter().for_each(|picture| images.text(picture.data)));
}

//! OpenAI chat completions, and servers that speak it.

use super::free_text::{INPUT, free_text, is_custom, said_freely};
use super::media::{Picture, pictures};
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, HistoryCall};
use super::{Dialect, IdRule, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::write::{JsonWriter, ListWriter, ObjectWriter};
use crate::result::CallResult;

/// The key of a call to a tool that takes free text.
const CUSTOM: &str = "custom";
/// Why a reply can stop before its last call is complete.
const CUT_OFF: [&str; 2] = ["length", "content_filter"];

/// Reads the first choice; a bot asks for one. An old `function_call` counts as its only call.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let completion = Fields::of(document.root());
    let choices = completion.list("choices").ok_or_else(|| missing(Dialect::OpenAiChat.as_str(), "choices"))?;
    let Some(choice) = choices.first().map(|choice| Fields::of(*choice)) else {
        return Ok(ParsedReply::default());
    };
    let message = choice.object("message");
    let calls = message.list("tool_calls").unwrap_or_default();
    let mut builder = ReplyBuilder::with_room_for(calls.len());
    builder.members(message.others(&["tool_calls", "function_call"]));
    // Some servers want `content` to be there, also when it says nothing.
    if message.is_null("content") {
        builder.member("content", JsonText::null());
    }
    let is_cut_off = CUT_OFF.contains(&&*choice.text("finish_reason"));
    let last = calls.len().saturating_sub(1);
    for (index, call) in calls.iter().enumerate() {
        builder.call(one(Fields::of(*call), is_cut_off && index == last));
    }
    if calls.is_empty() && message.get("function_call").is_some() {
        let function = message.object("function_call");
        let arguments = arguments(function.get("arguments"), is_cut_off);
        builder.call(ToolCall::new("", function.text("name"), arguments));
    }
    let reasoning = ["reasoning", "reasoning_content"].into_iter().map(|key| message.text(key));
    builder.reasoning(&reasoning.into_iter().find(|text| !text.is_empty()).unwrap_or_default());
    builder.beside(&message.text("content"));
    Ok(builder.build())
}

fn one(call: Fields<'_>, cut_off: bool) -> ToolCall {
    if call.get(CUSTOM).is_some() {
        let custom = call.object(CUSTOM);
        return ToolCall::new(&*call.text("id"), custom.text("name"), free_text(&custom.text(INPUT), cut_off))
            .with_opaque(call.opaque(&["id", "index", CUSTOM]));
    }
    let function = call.object("function");
    let arguments = arguments(function.get("arguments"), cut_off);
    ToolCall::new(&*call.text("id"), function.text("name"), arguments)
        .with_opaque(call.opaque(&["id", "type", "index", "function"]))
}

/// The message with its calls.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    turn.message(&turn.calls(results, ids), write_call)
}

fn write_call(call: &HistoryCall<'_>, object: &mut ObjectWriter<'_>) {
    object.text("id", &call.id);
    if is_custom(call.opaque) {
        object.object(CUSTOM, |custom| {
            custom.text("name", call.name);
            custom.text(INPUT, &said_freely(&call.arguments));
        });
    } else {
        object.text("type", "function");
        object.object("function", |function| {
            function.text("name", call.name);
            function.text("arguments", call.arguments.as_str());
        });
    }
    call.write_opaque(object);
}

/// A tool message per call; then the pictures of all of them in one user message, since tool messages take text only.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    let mut writer = JsonWriter::default();
    let mut messages = Vec::with_capacity(results.len() + 1);
    messages.extend(results.iter().map(|result| {
        writer.object(|message| {
            message.text("role", "tool");
            message.text("tool_call_id", &ids.apply(result.call_id.as_str()));
            message.text("content", &result.history_text());
        })
    }));
    messages.extend(media.groups(results.iter().flat_map(pictures)).map(|group| {
        writer.object(|message| {
            message.text("role", "user");
            message.list("content", |parts| group.iter().for_each(|picture| write_picture(picture, parts)));
        })
    }));
    messages
}

/// The reference by which the text names a picture, and the picture.
fn write_picture(picture: &Picture<'_>, parts: &mut ListWriter<'_>) {
    parts.object(|text| {
        text.text("type", "text");
        text.text("text", &picture.reference);
    });
    parts.object(|image| {
        image.text("type", "image_url");
        image.object("image_url", |url| url.text("url", &picture.data_uri()));
    });
}

//! OpenAI chat completions, and servers that speak it.

use serde_json::value::RawValue;

use super::free_text::{INPUT, free_text, is_custom, said_freely};
use super::media::{Picture, pictures};
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, HistoryCall};
use super::{Dialect, IdRule, MediaMode, role};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

/// The key of a call to a tool that takes free text.
const CUSTOM: &str = "custom";
/// Why a reply can stop before its last call is complete.
const CUT_OFF: [&str; 2] = ["length", "content_filter"];

/// Reads the first choice; a bot asks for one. An old `function_call` counts as its only call.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let completion = Fields::of(document(reply)?);
    let choices = completion.list("choices").ok_or_else(|| missing(Dialect::OpenAiChat.as_str(), "choices"))?;
    let Some(choice) = choices.first().map(|choice| Fields::of(choice)) else {
        return Ok(ParsedReply::default());
    };
    let message = choice.object("message");
    let calls = message.list("tool_calls").unwrap_or_default();
    let mut members = message.others(&["tool_calls", "function_call"]);
    // Some servers want `content` to be there, also when it says nothing.
    if message.is_null("content") {
        members.push(("content".to_owned(), JsonText::null()));
    }
    let mut builder = ReplyBuilder::new(members);
    let is_cut_off = CUT_OFF.contains(&choice.text("finish_reason").as_str());
    let last = calls.len().saturating_sub(1);
    for (index, call) in calls.iter().enumerate() {
        builder.call(one(call, is_cut_off && index == last));
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

fn one(call: &RawValue, cut_off: bool) -> ToolCall {
    let call = Fields::of(call);
    if call.get(CUSTOM).is_some() {
        let custom = call.object(CUSTOM);
        return ToolCall::new(call.text("id"), custom.text("name"), free_text(&custom.text(INPUT), cut_off))
            .with_opaque(call.opaque(&["id", "index", CUSTOM]));
    }
    let function = call.object("function");
    let arguments = arguments(function.get("arguments"), cut_off);
    ToolCall::new(call.text("id"), function.text("name"), arguments)
        .with_opaque(call.opaque(&["id", "type", "index", "function"]))
}

/// The message with its calls.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    turn.message(turn.calls(results, ids).iter().map(history_call).collect())
}

fn history_call(call: &HistoryCall<'_>) -> JsonText {
    let id = ("id", JsonText::string(&call.id));
    let name = ("name", JsonText::string(call.name));
    if is_custom(call.opaque) {
        let input = JsonText::string(&said_freely(&call.arguments));
        return call.object([id, (CUSTOM, JsonText::object([name, (INPUT, input)]))]);
    }
    let function = JsonText::object([name, ("arguments", JsonText::string(call.arguments.as_str()))]);
    call.object([id, ("type", JsonText::string("function")), ("function", function)])
}

/// A tool message per call; then the pictures of all of them in one user message, since tool messages take text only.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    let mut messages: Vec<JsonText> = results
        .iter()
        .map(|result| {
            role(
                "tool",
                [
                    ("tool_call_id", JsonText::string(&ids.apply(result.call_id.as_str()))),
                    ("content", JsonText::string(&result.history_content())),
                ],
            )
        })
        .collect();
    messages.extend(
        media
            .groups(results.iter().flat_map(pictures))
            .map(|group| role("user", [("content", JsonText::array(group.iter().flat_map(content)))])),
    );
    messages
}

/// The reference by which the text names a picture, and the picture.
fn content(picture: &Picture<'_>) -> [JsonText; 2] {
    let url = JsonText::object([("url", JsonText::string(&picture.data_uri()))]);
    [
        JsonText::object([("type", JsonText::string("text")), ("text", JsonText::string(&picture.reference))]),
        JsonText::object([("type", JsonText::string("image_url")), ("image_url", url)]),
    ]
}

//! OpenAI Responses.

use super::free_text::{INPUT, free_text, is_custom, said_freely};
use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, HistoryCall, TurnPart};
use super::{Dialect, IdRule, MediaMode, role};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

/// Reads the `function_call` and `custom_tool_call` items. Items that wait for the backend in other ways are told of.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let response = Fields::of(document(reply)?);
    let items = response.list("output").ok_or_else(|| missing(Dialect::OpenAiResponses.as_str(), "output"))?;
    let is_incomplete = response.text("status") == "incomplete";
    let last = items.len().saturating_sub(1);
    let mut builder = ReplyBuilder::default();
    for (index, item) in items.into_iter().enumerate() {
        let fields = Fields::of(item);
        let is_cut_off = match fields.text("status").as_str() {
            "incomplete" => true,
            "completed" => false,
            _ => is_incomplete && index == last,
        };
        match fields.text("type").as_str() {
            "function_call" => builder.call(function(&fields, is_cut_off)),
            "custom_tool_call" => builder.call(custom(&fields, is_cut_off)),
            kind => {
                said(&mut builder, kind, &fields);
                builder.keep(item);
            }
        }
    }
    Ok(builder.build())
}

fn function(item: &Fields<'_>, cut_off: bool) -> ToolCall {
    let arguments = arguments(item.get("arguments"), cut_off);
    ToolCall::new(item.text("call_id"), item.text("name"), arguments).with_opaque(item.opaque(&[
        "type",
        "call_id",
        "name",
        "arguments",
    ]))
}

fn custom(item: &Fields<'_>, cut_off: bool) -> ToolCall {
    ToolCall::new(item.text("call_id"), item.text("name"), free_text(&item.text(INPUT), cut_off))
        .with_opaque(item.opaque(&["call_id", "name", INPUT]))
}

fn said(builder: &mut ReplyBuilder, kind: &str, item: &Fields<'_>) {
    let texts = |key: &str| -> String {
        let parts = item.list(key).unwrap_or_default();
        parts.into_iter().map(|part| Fields::of(part).text("text")).collect()
    };
    match kind {
        "reasoning" => {
            builder.reasoning(&texts("summary"));
            builder.reasoning(&texts("content"));
        }
        "message" => builder.beside(&texts("content")),
        "mcp_approval_request" | "computer_call" | "local_shell_call" | "shell_call" | "apply_patch_call" => {
            builder.warn(format!("the reply has an item `{kind}`, which the backend has to answer itself"));
        }
        "tool_search_call" if item.text("execution") == "client" => {
            builder.warn("the reply has a `tool_search_call`, which the backend has to answer itself".to_owned());
        }
        _ => {}
    }
}

/// The items of the reply, in their order: a reasoning item stays directly before the call that it led to.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    let item = |part: &TurnPart| match part {
        TurnPart::Kept(item) => Some(item.clone()),
        TurnPart::Call(index) => Some(call_item(&turn.call(*index, results, ids)?)),
    };
    turn.parts.iter().filter_map(item).collect()
}

fn call_item(call: &HistoryCall<'_>) -> JsonText {
    let id = ("call_id", JsonText::string(&call.id));
    let name = ("name", JsonText::string(call.name));
    if is_custom(call.opaque) {
        return call.object([id, name, (INPUT, JsonText::string(&said_freely(&call.arguments)))]);
    }
    let arguments = ("arguments", JsonText::string(call.arguments.as_str()));
    call.object([("type", JsonText::string("function_call")), id, name, arguments])
}

/// An output item per call, in call order; pictures stand inside it.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    let mut items: Vec<JsonText> = results.iter().map(|result| output_item(result, ids, media)).collect();
    items.extend(
        media
            .groups(media.after(results))
            .map(|group| role("user", [("content", JsonText::array(group.iter().flat_map(content)))])),
    );
    items
}

fn output_item(result: &CallResult, ids: IdRule, media: MediaMode) -> JsonText {
    let text = JsonText::string(&result.history_content());
    let pictures = media.inside(result);
    let output = if pictures.is_empty() {
        text
    } else {
        let text = JsonText::object([("type", JsonText::string("input_text")), ("text", text)]);
        JsonText::array(std::iter::once(text).chain(pictures.iter().map(image)))
    };
    let kind = match is_custom(result.opaque.as_ref()) {
        true => "custom_tool_call_output",
        false => "function_call_output",
    };
    JsonText::object([
        ("type", JsonText::string(kind)),
        ("call_id", JsonText::string(&ids.apply(result.call_id.as_str()))),
        ("output", output),
    ])
}

fn content(picture: &Picture<'_>) -> [JsonText; 2] {
    let text = JsonText::string(&picture.reference);
    [JsonText::object([("type", JsonText::string("input_text")), ("text", text)]), image(picture)]
}

fn image(picture: &Picture<'_>) -> JsonText {
    let url = JsonText::string(&picture.data_uri());
    JsonText::object([("type", JsonText::string("input_image")), ("image_url", url)])
}

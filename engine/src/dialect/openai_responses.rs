//! OpenAI Responses.

use super::free_text::{INPUT, free_text, is_custom, said_freely};
use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, HistoryCall, TurnPart};
use super::{Dialect, IdRule, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::write::{JsonWriter, ListWriter, ObjectWriter};
use crate::result::CallResult;

/// Reads the `function_call` and `custom_tool_call` items. Items that wait for the backend in other ways are told of.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let response = Fields::of(document.root());
    let items = response.list("output").ok_or_else(|| missing(Dialect::OpenAiResponses.as_str(), "output"))?;
    let is_incomplete = response.text("status") == "incomplete";
    let last = items.len().saturating_sub(1);
    let mut builder = ReplyBuilder::with_room_for(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let fields = Fields::of(item);
        let is_cut_off = match &*fields.text("status") {
            "incomplete" => true,
            "completed" => false,
            _ => is_incomplete && index == last,
        };
        match &*fields.text("type") {
            "function_call" => builder.call(function(fields, is_cut_off)),
            "custom_tool_call" => builder.call(custom(fields, is_cut_off)),
            kind => {
                said(&mut builder, kind, fields);
                builder.keep(item);
            }
        }
    }
    Ok(builder.build())
}

fn function(item: Fields<'_>, cut_off: bool) -> ToolCall {
    let arguments = arguments(item.get("arguments"), cut_off);
    ToolCall::new(&*item.text("call_id"), item.text("name"), arguments).with_opaque(item.opaque(&[
        "type",
        "call_id",
        "name",
        "arguments",
    ]))
}

fn custom(item: Fields<'_>, cut_off: bool) -> ToolCall {
    ToolCall::new(&*item.text("call_id"), item.text("name"), free_text(&item.text(INPUT), cut_off))
        .with_opaque(item.opaque(&["call_id", "name", INPUT]))
}

fn said(builder: &mut ReplyBuilder, kind: &str, item: Fields<'_>) {
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
    let mut writer = JsonWriter::default();
    let item = |part: &TurnPart| match part {
        TurnPart::Kept(item) => Some(item.clone()),
        TurnPart::Call(index) => {
            let call = turn.call(*index, results, ids)?;
            Some(writer.object(|item| write_call(&call, item)))
        }
    };
    turn.parts.iter().filter_map(item).collect()
}

fn write_call(call: &HistoryCall<'_>, item: &mut ObjectWriter<'_>) {
    let is_custom = is_custom(call.opaque);
    if !is_custom {
        item.text("type", "function_call");
    }
    item.text("call_id", &call.id);
    item.text("name", call.name);
    if is_custom {
        item.text(INPUT, &said_freely(&call.arguments));
    } else {
        item.text("arguments", call.arguments.as_str());
    }
    call.write_opaque(item);
}

/// An output item per call, in call order; pictures stand inside it.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    let mut writer = JsonWriter::default();
    let mut items = Vec::with_capacity(results.len());
    items.extend(results.iter().map(|result| writer.object(|item| write_output(result, ids, media, item))));
    items.extend(media.groups(media.after(results)).map(|group| {
        writer.object(|message| {
            message.text("role", "user");
            message.list("content", |parts| {
                for picture in &group {
                    write_text(&picture.reference, parts);
                    write_image(picture, parts);
                }
            });
        })
    }));
    items
}

fn write_output(result: &CallResult, ids: IdRule, media: MediaMode, item: &mut ObjectWriter<'_>) {
    let kind = match is_custom(result.opaque.as_ref()) {
        true => "custom_tool_call_output",
        false => "function_call_output",
    };
    item.text("type", kind);
    item.text("call_id", &ids.apply(result.call_id.as_str()));
    let text = result.history_text();
    let pictures = media.inside(result);
    if pictures.is_empty() {
        item.text("output", &text);
    } else {
        item.list("output", |parts| {
            write_text(&text, parts);
            pictures.iter().for_each(|picture| write_image(picture, parts));
        });
    }
}

fn write_text(text: &str, parts: &mut ListWriter<'_>) {
    parts.object(|part| {
        part.text("type", "input_text");
        part.text("text", text);
    });
}

fn write_image(picture: &Picture<'_>, parts: &mut ListWriter<'_>) {
    parts.object(|part| {
        part.text("type", "input_image");
        part.text("image_url", &picture.data_uri());
    });
}

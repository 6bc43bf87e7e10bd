//! Anthropic messages.

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, TurnPart};
use super::{Dialect, IdRule, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::outline::{Node, Outline};
use crate::json::write::{JsonWriter, ListWriter, ObjectWriter};
use crate::result::CallResult;

/// Why a reply can stop before its last block is complete.
const CUT_OFF: [&str; 2] = ["max_tokens", "model_context_window_exceeded"];

/// Reads the `tool_use` blocks. When the reply ran into a token limit, its last block is cut off.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let message = Fields::of(document.root());
    let blocks = message.list("content").ok_or_else(|| missing(Dialect::Anthropic.as_str(), "content"))?;
    let is_cut_off = CUT_OFF.contains(&&*message.text("stop_reason"));
    let last = blocks.len().saturating_sub(1);
    let mut builder = ReplyBuilder::with_room_for(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        let fields = Fields::of(block);
        match &*fields.text("type") {
            "tool_use" => {
                let arguments = arguments(fields.get("input"), is_cut_off && index == last);
                let call = ToolCall::new(&*fields.text("id"), fields.text("name"), arguments)
                    .with_opaque(fields.opaque(&["type", "id", "name", "input"]));
                builder.call(call);
                continue;
            }
            "thinking" => builder.reasoning(&fields.text("thinking")),
            "text" => builder.beside(&fields.text("text")),
            _ => {}
        }
        builder.keep(block);
    }
    Ok(builder.build())
}

/// The message with its blocks in their order. Empty text blocks are left out: the vendor refuses them.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    turn.list("assistant", "content", |part, blocks| match part {
        TurnPart::Kept(block) if is_empty_text(block) => {}
        TurnPart::Kept(block) => blocks.json(block),
        TurnPart::Call(index) => {
            let Some(call) = turn.call(*index, results, ids) else { return };
            blocks.object(|block| {
                block.text("type", "tool_use");
                block.text("id", &call.id);
                block.text("name", call.name);
                block.json("input", &call.arguments);
                call.write_opaque(block);
            });
        }
    })
}

fn is_empty_text(block: &JsonText) -> bool {
    let outline = Outline::of(block.as_str());
    let text = |key: &str| outline.root().get(key).and_then(Node::text);
    text("type").as_deref() == Some("text") && text("text").is_some_and(|said| said.trim().is_empty())
}

/// One user message with a `tool_result` block per call; pictures stand inside their block.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    if results.is_empty() {
        return Vec::new();
    }
    let message = JsonWriter::default().object(|message| {
        message.text("role", "user");
        message.list("content", |blocks| {
            for result in results {
                blocks.object(|block| write_result(result, ids, media, block));
            }
            // The vendor wants all results in one message; what else the user says follows in it.
            for picture in media.groups(media.after(results)).flatten() {
                write_text(&picture.reference, blocks);
                write_image(&picture, blocks);
            }
        });
    });
    vec![message]
}

fn write_result(result: &CallResult, ids: IdRule, media: MediaMode, block: &mut ObjectWriter<'_>) {
    block.text("type", "tool_result");
    block.text("tool_use_id", &ids.apply(result.call_id.as_str()));
    let said = result.history_text();
    let pictures = media.inside(result);
    if pictures.is_empty() {
        block.text("content", &said);
    } else {
        block.list("content", |blocks| {
            write_text(&said, blocks);
            pictures.iter().for_each(|picture| write_image(picture, blocks));
        });
    }
    if !result.is_success() {
        block.boolean("is_error", true);
    }
}

fn write_text(said: &str, blocks: &mut ListWriter<'_>) {
    blocks.object(|block| {
        block.text("type", "text");
        block.text("text", said);
    });
}

fn write_image(picture: &Picture<'_>, blocks: &mut ListWriter<'_>) {
    blocks.object(|block| {
        block.text("type", "image");
        block.object("source", |source| {
            source.text("type", "base64");
            source.text("media_type", picture.mime_type);
            source.text("data", picture.data);
        });
    });
}

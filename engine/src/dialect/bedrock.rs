//! Amazon Bedrock converse.

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, TurnPart};
use super::{Dialect, IdRule, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::write::{JsonWriter, ListWriter, ObjectWriter};
use crate::result::CallResult;

const CALL: &str = "toolUse";

/// Reads the `toolUse` blocks.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let response = Fields::of(document.root());
    let message = response.object("output").object("message");
    let blocks = message.list("content").ok_or_else(|| missing(Dialect::Bedrock.as_str(), "output.message.content"))?;
    let is_cut_off = response.text("stopReason") == "max_tokens";
    let last = blocks.len().saturating_sub(1);
    let mut builder = ReplyBuilder::with_room_for(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        let fields = Fields::of(block);
        if fields.get(CALL).is_some() {
            let call = fields.object(CALL);
            let arguments = arguments(call.get("input"), is_cut_off && index == last);
            let opaque = call.opaque(&["toolUseId", "name", "input"]);
            builder.call(ToolCall::new(&*call.text("toolUseId"), call.text("name"), arguments).with_opaque(opaque));
            continue;
        }
        builder.reasoning(&fields.object("reasoningContent").object("reasoningText").text("text"));
        builder.beside(&fields.text("text"));
        builder.keep(block);
    }
    Ok(builder.build())
}

/// The message with its blocks in their order.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    turn.list("assistant", "content", |part, blocks| match part {
        TurnPart::Kept(block) => blocks.json(block),
        TurnPart::Call(index) => {
            let Some(call) = turn.call(*index, results, ids) else { return };
            blocks.object(|block| {
                block.object(CALL, |used| {
                    used.text("toolUseId", &call.id);
                    used.text("name", call.name);
                    used.json("input", &call.arguments);
                    call.write_opaque(used);
                });
            });
        }
    })
}

/// One user message with a `toolResult` block per call; pictures stand inside their block.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    if results.is_empty() {
        return Vec::new();
    }
    let message = JsonWriter::default().object(|message| {
        message.text("role", "user");
        message.list("content", |blocks| {
            for result in results {
                blocks.object(|block| block.object("toolResult", |block| write_result(result, ids, media, block)));
            }
            for picture in media.groups(media.after(results)).flatten() {
                write_text(&picture.reference, blocks);
                write_image(&picture, blocks);
            }
        });
    });
    vec![message]
}

fn write_result(result: &CallResult, ids: IdRule, media: MediaMode, block: &mut ObjectWriter<'_>) {
    block.text("toolUseId", &ids.apply(result.call_id.as_str()));
    block.list("content", |blocks| {
        write_text(&result.history_text(), blocks);
        media.inside(result).iter().for_each(|picture| write_image(picture, blocks));
    });
    block.text("status", if result.is_success() { "success" } else { "error" });
}

fn write_text(said: &str, blocks: &mut ListWriter<'_>) {
    blocks.object(|block| block.text("text", said));
}

fn write_image(picture: &Picture<'_>, blocks: &mut ListWriter<'_>) {
    blocks.object(|block| {
        block.object("image", |image| {
            image.text("format", picture.mime_type.strip_prefix("image/").unwrap_or("png"));
            image.object("source", |source| source.text("bytes", picture.data));
        });
    });
}

//! Amazon Bedrock converse.

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, TurnPart};
use super::{Dialect, IdRule, MediaMode, role};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

const CALL: &str = "toolUse";

/// Reads the `toolUse` blocks.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let response = Fields::of(document(reply)?);
    let message = response.object("output").object("message");
    let blocks = message.list("content").ok_or_else(|| missing(Dialect::Bedrock.as_str(), "output.message.content"))?;
    let is_cut_off = response.text("stopReason") == "max_tokens";
    let last = blocks.len().saturating_sub(1);
    let mut builder = ReplyBuilder::default();
    for (index, block) in blocks.into_iter().enumerate() {
        let fields = Fields::of(block);
        if fields.get(CALL).is_some() {
            let call = fields.object(CALL);
            let arguments = arguments(call.get("input"), is_cut_off && index == last);
            let opaque = call.opaque(&["toolUseId", "name", "input"]);
            builder.call(ToolCall::new(call.text("toolUseId"), call.text("name"), arguments).with_opaque(opaque));
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
    let block = |part: &TurnPart| match part {
        TurnPart::Kept(block) => Some(block.clone()),
        TurnPart::Call(index) => {
            let call = turn.call(*index, results, ids)?;
            let members = [
                ("toolUseId", JsonText::string(&call.id)),
                ("name", JsonText::string(call.name)),
                ("input", call.arguments.clone()),
            ];
            Some(JsonText::object([(CALL, call.object(members))]))
        }
    };
    let blocks: Vec<JsonText> = turn.parts.iter().filter_map(block).collect();
    if blocks.is_empty() {
        return Vec::new();
    }
    vec![role("assistant", [("content", JsonText::array(blocks))])]
}

/// One user message with a `toolResult` block per call; pictures stand inside their block.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    if results.is_empty() {
        return Vec::new();
    }
    let blocks = results.iter().map(|result| result_block(result, ids, media));
    let after =
        media.groups(media.after(results)).flatten().flat_map(|picture| [text(&picture.reference), image(&picture)]);
    vec![role("user", [("content", JsonText::array(blocks.chain(after)))])]
}

fn result_block(result: &CallResult, ids: IdRule, media: MediaMode) -> JsonText {
    let pictures = media.inside(result);
    let content = std::iter::once(text(&result.history_content())).chain(pictures.iter().map(image));
    let status = if result.is_success() { "success" } else { "error" };
    let block = JsonText::object([
        ("toolUseId", JsonText::string(&ids.apply(result.call_id.as_str()))),
        ("content", JsonText::array(content)),
        ("status", JsonText::string(status)),
    ]);
    JsonText::object([("toolResult", block)])
}

fn text(said: &str) -> JsonText {
    JsonText::object([("text", JsonText::string(said))])
}

fn image(picture: &Picture<'_>) -> JsonText {
    let format = picture.mime_type.strip_prefix("image/").unwrap_or("png");
    let source = JsonText::object([("bytes", JsonText::string(picture.data))]);
    JsonText::object([("image", JsonText::object([("format", JsonText::string(format)), ("source", source)]))])
}

//! Anthropic messages.

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, TurnPart};
use super::{Dialect, IdRule, MediaMode, role};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

/// Why a reply can stop before its last block is complete.
const CUT_OFF: [&str; 2] = ["max_tokens", "model_context_window_exceeded"];

/// Reads the `tool_use` blocks. When the reply ran into a token limit, its last block is cut off.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let message = Fields::of(document(reply)?);
    let blocks = message.list("content").ok_or_else(|| missing(Dialect::Anthropic.as_str(), "content"))?;
    let is_cut_off = CUT_OFF.contains(&message.text("stop_reason").as_str());
    let last = blocks.len().saturating_sub(1);
    let mut builder = ReplyBuilder::default();
    for (index, block) in blocks.into_iter().enumerate() {
        let fields = Fields::of(block);
        match fields.text("type").as_str() {
            "tool_use" => {
                let arguments = arguments(fields.get("input"), is_cut_off && index == last);
                let call = ToolCall::new(fields.text("id"), fields.text("name"), arguments)
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
    let block = |part: &TurnPart| match part {
        TurnPart::Kept(block) => (!is_empty_text(block)).then(|| block.clone()),
        TurnPart::Call(index) => {
            let call = turn.call(*index, results, ids)?;
            Some(call.object([
                ("type", JsonText::string("tool_use")),
                ("id", JsonText::string(&call.id)),
                ("name", JsonText::string(call.name)),
                ("input", call.arguments.clone()),
            ]))
        }
    };
    let blocks: Vec<JsonText> = turn.parts.iter().filter_map(block).collect();
    if blocks.is_empty() {
        return Vec::new();
    }
    vec![role("assistant", [("content", JsonText::array(blocks))])]
}

fn is_empty_text(block: &JsonText) -> bool {
    let text = |key: &str| block.member(key).and_then(|value| value.to::<String>().ok());
    text("type").as_deref() == Some("text") && text("text").is_some_and(|said| said.trim().is_empty())
}

/// One user message with a `tool_result` block per call; pictures stand inside their block.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    if results.is_empty() {
        return Vec::new();
    }
    let blocks = results.iter().map(|result| result_block(result, ids, media));
    // The vendor wants all results in one message; what else the user says follows in it.
    let after =
        media.groups(media.after(results)).flatten().flat_map(|picture| [text(&picture.reference), image(&picture)]);
    vec![role("user", [("content", JsonText::array(blocks.chain(after)))])]
}

fn result_block(result: &CallResult, ids: IdRule, media: MediaMode) -> JsonText {
    let said = result.history_content();
    let pictures = media.inside(result);
    let content = if pictures.is_empty() {
        JsonText::string(&said)
    } else {
        JsonText::array(std::iter::once(text(&said)).chain(pictures.iter().map(image)))
    };
    let is_error = (!result.is_success()).then(|| ("is_error", JsonText::boolean(true)));
    let members = [
        ("type", JsonText::string("tool_result")),
        ("tool_use_id", JsonText::string(&ids.apply(result.call_id.as_str()))),
        ("content", content),
    ];
    JsonText::object(members.into_iter().chain(is_error))
}

fn text(said: &str) -> JsonText {
    JsonText::object([("type", JsonText::string("text")), ("text", JsonText::string(said))])
}

fn image(picture: &Picture<'_>) -> JsonText {
    let source = JsonText::object([
        ("type", JsonText::string("base64")),
        ("media_type", JsonText::string(picture.mime_type)),
        ("data", JsonText::string(picture.data)),
    ]);
    JsonText::object([("type", JsonText::string("image")), ("source", source)])
}

//! Gemini generateContent.

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, HistoryCall, TurnPart};
use super::{Dialect, IdRule, MediaMode};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::json::outline::Outline;
use crate::json::write::{JsonWriter, ListWriter, ObjectWriter};
use crate::result::CallResult;

const CALL: &str = "functionCall";
/// Why a candidate can stop before its last call is complete.
const CUT_OFF: [&str; 6] = ["MAX_TOKENS", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"];

/// Reads the `functionCall` parts of the first candidate. What stands beside a call in its part, its thought signature
/// above all, is kept with it.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let response = Fields::of(document.root());
    let candidates = response.list("candidates").ok_or_else(|| missing(Dialect::Gemini.as_str(), "candidates"))?;
    let candidate = candidates.first().map(|candidate| Fields::of(*candidate)).unwrap_or_default();
    let finish_reason = candidate.text("finishReason");
    let parts = candidate.object("content").list("parts").unwrap_or_default();
    let last = parts.len().saturating_sub(1);
    let mut builder = ReplyBuilder::with_room_for(parts.len());
    if finish_reason == "MALFORMED_FUNCTION_CALL" {
        builder.warn("the vendor could not read a call that the model made (MALFORMED_FUNCTION_CALL)".to_owned());
    }
    for (index, part) in parts.into_iter().enumerate() {
        let fields = Fields::of(part);
        if fields.get(CALL).is_some() {
            builder.call(one(fields, CUT_OFF.contains(&&*finish_reason) && index == last));
            continue;
        }
        if fields.is_true("thought") {
            builder.reasoning(&fields.text("text"));
        } else {
            builder.beside(&fields.text("text"));
        }
        builder.keep(part);
    }
    Ok(builder.build())
}

fn one(part: Fields<'_>, cut_off: bool) -> ToolCall {
    let call = part.object(CALL);
    let opaque = JsonWriter::default().object_unless_empty(|opaque| {
        part.write_others(&[CALL], opaque);
        // The id goes back to the vendor only if it came from there: not every endpoint knows ids.
        if let Some(own) = call.opaque(&["name", "args"]) {
            opaque.json(CALL, &own);
        }
    });
    ToolCall::new(&*call.text("id"), call.text("name"), arguments(call.get("args"), cut_off)).with_opaque(opaque)
}

/// The content with its parts in their order.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    turn.list("model", "parts", |part, parts| match part {
        TurnPart::Kept(part) => parts.json(part),
        TurnPart::Call(index) => {
            let Some(call) = turn.call(*index, results, ids) else { return };
            parts.object(|part| write_call(&call, part));
        }
    })
}

fn write_call(call: &HistoryCall<'_>, part: &mut ObjectWriter<'_>) {
    let opaque = call.opaque.map(|opaque| Outline::of(opaque.as_str()));
    let beside = opaque.as_ref().map(Outline::root);
    let own = beside.and_then(|beside| beside.get(CALL));
    part.object(CALL, |function| {
        if own.is_some_and(|own| own.get("id").is_some()) {
            function.text("id", &call.id);
        }
        function.text("name", call.name);
        function.json("args", &call.arguments);
        function.members_of(own, &["id"]);
    });
    part.members_of(beside, &[CALL]);
}

/// One user content with a `functionResponse` part per call, in call order; pictures follow in a content of their own,
/// since the vendor counts the parts of the first.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    if results.is_empty() {
        return Vec::new();
    }
    let mut writer = JsonWriter::default();
    let mut contents = vec![writer.object(|content| {
        content.text("role", "user");
        content.list("parts", |parts| {
            for result in results {
                parts.object(|part| part.object("functionResponse", |response| write_response(result, ids, response)));
            }
        });
    })];
    let pictures = results.iter().flat_map(super::media::pictures).filter(|picture| picture.mime_type != "image/gif");
    contents.extend(media.groups(pictures).map(|group| {
        writer.object(|content| {
            content.text("role", "user");
            content.list("parts", |parts| group.iter().for_each(|picture| write_picture(picture, parts)));
        })
    }));
    contents
}

fn write_response(result: &CallResult, ids: IdRule, response: &mut ObjectWriter<'_>) {
    if has_id(result.opaque.as_ref()) {
        response.text("id", &ids.apply(result.call_id.as_str()));
    }
    response.text("name", &result.model_name);
    let key = if result.is_success() { "result" } else { "error" };
    response.object("response", |said| write_said(result, key, said));
}

fn has_id(opaque: Option<&JsonText>) -> bool {
    let opaque = opaque.map(|opaque| Outline::of(opaque.as_str()));
    let own = opaque.as_ref().and_then(|opaque| opaque.root().get(CALL));
    own.and_then(|own| own.get("id")).is_some()
}

/// The result as JSON where that is all that it is, else as text. The vendor refuses objects that have a key `$ref`:
/// those go as text.
fn write_said(result: &CallResult, key: &str, said: &mut ObjectWriter<'_>) {
    let text = result.history_text();
    match &result.result.structured_content {
        Some(json) if json.as_str() == text && !json.as_str().contains("$ref") => said.json(key, json),
        _ => said.text(key, &text),
    }
}

fn write_picture(picture: &Picture<'_>, parts: &mut ListWriter<'_>) {
    parts.object(|part| part.text("text", &picture.reference));
    parts.object(|part| {
        part.object("inlineData", |data| {
            data.text("mimeType", picture.mime_type);
            data.text("data", picture.data);
        });
    });
}

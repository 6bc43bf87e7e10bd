//! Gemini generateContent.

use serde_json::value::RawValue;

use super::media::Picture;
use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, missing};
use super::turn::{AssistantTurn, HistoryCall, TurnPart};
use super::{Dialect, IdRule, MediaMode, role};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

const CALL: &str = "functionCall";
/// Why a candidate can stop before its last call is complete.
const CUT_OFF: [&str; 6] = ["MAX_TOKENS", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"];

/// Reads the `functionCall` parts of the first candidate. What stands beside a call in its part, its thought signature
/// above all, is kept with it.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let response = Fields::of(document(reply)?);
    let candidates = response.list("candidates").ok_or_else(|| missing(Dialect::Gemini.as_str(), "candidates"))?;
    let candidate = candidates.first().map(|candidate| Fields::of(candidate)).unwrap_or_default();
    let finish_reason = candidate.text("finishReason");
    let parts = candidate.object("content").list("parts").unwrap_or_default();
    let last = parts.len().saturating_sub(1);
    let mut builder = ReplyBuilder::default();
    if finish_reason == "MALFORMED_FUNCTION_CALL" {
        builder.warn("the vendor could not read a call that the model made (MALFORMED_FUNCTION_CALL)".to_owned());
    }
    for (index, part) in parts.into_iter().enumerate() {
        let fields = Fields::of(part);
        if let Some(call) = fields.get(CALL) {
            builder.call(one(&fields, call, CUT_OFF.contains(&finish_reason.as_str()) && index == last));
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

fn one(part: &Fields<'_>, call: &RawValue, cut_off: bool) -> ToolCall {
    let call = Fields::of(call);
    let mut opaque = part.others(&[CALL]);
    // The id goes back to the vendor only if it came from there: not every endpoint knows ids.
    opaque.extend(call.opaque(&["name", "args"]).map(|extra| (CALL.to_owned(), extra)));
    let opaque: Vec<(&str, JsonText)> = opaque.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    ToolCall::new(call.text("id"), call.text("name"), arguments(call.get("args"), cut_off))
        .with_opaque((!opaque.is_empty()).then(|| JsonText::object(opaque)))
}

/// The content with its parts in their order.
pub(super) fn assistant(turn: &AssistantTurn, results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    let part = |part: &TurnPart| match part {
        TurnPart::Kept(part) => Some(part.clone()),
        TurnPart::Call(index) => Some(call_part(&turn.call(*index, results, ids)?)),
    };
    let parts: Vec<JsonText> = turn.parts.iter().filter_map(part).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    vec![role("model", [("parts", JsonText::array(parts))])]
}

fn call_part(call: &HistoryCall<'_>) -> JsonText {
    let beside = call.opaque.and_then(|opaque| opaque.members()).unwrap_or_default();
    let own = beside.iter().find(|(key, _)| key == CALL).and_then(|(_, own)| own.members()).unwrap_or_default();
    let has_id = own.iter().any(|(key, _)| key == "id");
    let id = has_id.then(|| ("id", JsonText::string(&call.id)));
    let own = own.iter().filter(|(key, _)| key != "id").map(|(key, value)| (key.as_str(), value.clone()));
    let members = [("name", JsonText::string(call.name)), ("args", call.arguments.clone())];
    let function = JsonText::object(id.into_iter().chain(members).chain(own));
    let beside = beside.iter().filter(|(key, _)| key != CALL).map(|(key, value)| (key.as_str(), value.clone()));
    JsonText::object(std::iter::once((CALL, function)).chain(beside))
}

/// One user content with a `functionResponse` part per call, in call order; pictures follow in a content of their own,
/// since the vendor counts the parts of the first.
pub(super) fn messages(results: &[CallResult], ids: IdRule, media: MediaMode) -> Vec<JsonText> {
    if results.is_empty() {
        return Vec::new();
    }
    let parts = results.iter().map(|result| response_part(result, ids));
    let mut contents = vec![role("user", [("parts", JsonText::array(parts))])];
    let pictures = results.iter().flat_map(super::media::pictures).filter(|picture| picture.mime_type != "image/gif");
    contents.extend(
        media
            .groups(pictures)
            .map(|group| role("user", [("parts", JsonText::array(group.iter().flat_map(picture_parts)))])),
    );
    contents
}

fn response_part(result: &CallResult, ids: IdRule) -> JsonText {
    let own = result.opaque.as_ref().and_then(|opaque| opaque.member(CALL));
    let has_id = own.is_some_and(|own| own.member("id").is_some());
    let id = has_id.then(|| ("id", JsonText::string(&ids.apply(result.call_id.as_str()))));
    let key = if result.is_success() { "result" } else { "error" };
    let members =
        [("name", JsonText::string(&result.model_name)), ("response", JsonText::object([(key, said(result))]))];
    JsonText::object([("functionResponse", JsonText::object(id.into_iter().chain(members)))])
}

/// The result as JSON where that is all that it is, else as text. The vendor refuses objects that have a key `$ref`:
/// those go as text.
fn said(result: &CallResult) -> JsonText {
    let text = result.history_content();
    match &result.result.structured_content {
        Some(json) if json.as_str() == text && !json.as_str().contains("$ref") => json.clone(),
        _ => JsonText::string(&text),
    }
}

fn picture_parts(picture: &Picture<'_>) -> [JsonText; 2] {
    let data =
        JsonText::object([("mimeType", JsonText::string(picture.mime_type)), ("data", JsonText::string(picture.data))]);
    [JsonText::object([("text", JsonText::string(&picture.reference))]), JsonText::object([("inlineData", data)])]
}

//! What vendors want back byte for byte, found in the text of a reply without the engine's help.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;
use toolyard::Dialect;

/// Members that nobody but the vendor understands.
const OPAQUE: [&str; 8] = [
    "thoughtSignature",
    "thought_signature",
    "extra_content",
    "caller",
    "encrypted_content",
    "signature",
    "fingerprint",
    "namespace",
];

/// Parts that are calls: they may be written anew, but for their opaque members.
const CALLS: [&str; 4] = ["tool_use", "function_call", "custom_tool_call", "tool_call"];

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Everything in a reply that has to come back, as it stands there.
pub(super) fn found(dialect: Dialect, is_stream: bool, reply: &str) -> Vec<String> {
    let mut kept = Vec::new();
    if !is_stream {
        let document: &RawValue = serde_json::from_str(reply).unwrap();
        for part in parts(dialect, document) {
            whole(part, &mut kept);
        }
        if dialect == Dialect::OpenAiChat {
            message(document, &mut kept);
        }
        return kept;
    }
    match completed(reply) {
        Some(response) => return found(dialect, false, &response),
        None if dialect == Dialect::OpenAiResponses => {
            let done = frames(reply).filter(|frame| kind(frame) == "response.output_item.done");
            done.for_each(|frame| whole(members(frame)["item"], &mut kept));
        }
        None => frames(reply).for_each(|frame| opaque(frame, &mut kept)),
    }
    kept
}

/// The whole response in the last event of a stream of OpenAI responses.
pub(super) fn completed(stream: &str) -> Option<String> {
    let last = frames(stream).filter(|frame| kind(frame) == "response.completed").last()?;
    let response = *members(last).get("response")?;
    let has_output = !list(members(response).get("output")?).is_empty();
    has_output.then(|| response.get().to_owned())
}

/// Every member of every object in a value.
pub(super) fn each_member(value: &Value, seen: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_member(item, seen)),
        Value::Object(object) => {
            for (key, value) in object {
                seen(key, value);
                each_member(value, seen);
            }
        }
        _ => {}
    }
}

fn frames(stream: &str) -> impl Iterator<Item = &RawValue> {
    stream.lines().filter_map(|line| serde_json::from_str(line.trim_start_matches("data:").trim()).ok())
}

fn parts(dialect: Dialect, document: &RawValue) -> Vec<&RawValue> {
    let path: &[&str] = match dialect {
        Dialect::OpenAiResponses => &["output"],
        Dialect::Anthropic => &["content"],
        Dialect::Bedrock => &["output", "message", "content"],
        Dialect::Gemini => &["candidates", "content", "parts"],
        _ => return Vec::new(),
    };
    path.iter().try_fold(document, |at, key| inner(at, key)).map(list).unwrap_or_default()
}

fn inner<'a>(at: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    let at = if at.get().starts_with('[') { *list(at).first()? } else { at };
    members(at).get(key).copied()
}

/// A part that is no call comes back whole.
fn whole(part: &RawValue, kept: &mut Vec<String>) {
    let fields = members(part);
    let is_call =
        CALLS.contains(&kind(part).as_str()) || fields.contains_key("functionCall") || fields.contains_key("toolUse");
    if is_call {
        opaque(part, kept);
    } else {
        kept.push(part.get().to_owned());
    }
}

/// The members of a chat message, and what stands in its calls.
fn message(document: &RawValue, kept: &mut Vec<String>) {
    let Some(message) = inner(document, "choices").and_then(|choices| inner(choices, "message")) else { return };
    for (key, value) in members(message) {
        match key.as_str() {
            "tool_calls" => opaque(value, kept),
            _ if value.get() == "null" => {}
            _ => kept.push(format!("{}:{}", serde_json::to_string(&key).unwrap(), value.get())),
        }
    }
}

fn opaque(raw: &RawValue, kept: &mut Vec<String>) {
    for item in list(raw) {
        opaque(item, kept);
    }
    for (key, value) in members(raw) {
        if OPAQUE.contains(&key.as_str()) && value.get() != "null" && value.get() != "\"\"" {
            kept.push(value.get().to_owned());
        } else {
            opaque(value, kept);
        }
    }
}

fn kind(raw: &RawValue) -> String {
    members(raw).get("type").and_then(|kind| serde_json::from_str(kind.get()).ok()).unwrap_or_default()
}

fn members(raw: &RawValue) -> Members<'_> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn list(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

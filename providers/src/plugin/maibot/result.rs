//! From what a handler returned to a result: the rules that MaiBot's plugins are written for (seed 000, "Return Value").
//!
//! They are looser than the engine's own: `success` is whatever Python takes for true, a `content` that is there counts
//! even when it is empty, a pair with a boolean in front is an old Action's way to say both.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::{JsonText, ToolExecutionResult, content_items_from_json};

use super::python::{is_truthy, text_of};

/// What is said of a failure that says nothing.
pub(super) const FAILED: &str = "插件工具执行失败";
/// How what is said of a result begins whose wish to stop is no boolean.
pub(crate) const STOP_NOT_BOOLEAN: &str = "`stop_after_execution` in the tool's result must be a boolean";

/// The runner's report of what was returned.
#[derive(Deserialize)]
struct Returned<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    /// Python's `str()` of it, or of what stands behind the boolean of a pair; absent for objects and for text.
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

type Fields<'a> = IndexMap<String, &'a RawValue>;

/// Reads what the runner reports. Never fails: what cannot be read is a failed result.
pub(super) fn result_of(report: &JsonText) -> ToolExecutionResult {
    let Ok(Returned { value, text }) = serde_json::from_str(report.as_str()) else {
        return ToolExecutionResult::failure("what the plugin's runner reports of the result cannot be read");
    };
    let text = text.map(|text| text_of(&json(text)));
    match value.get().as_bytes().first() {
        Some(b'{') => match serde_json::from_str(value.get()) {
            Ok(fields) => of_object(&fields),
            Err(error) => ToolExecutionResult::failure(format!("the plugin's result cannot be read: {error}")),
        },
        Some(b'[') => match first_boolean(value) {
            Some(success) => of_pair(success, value, text.unwrap_or_default()),
            None => other(value, text),
        },
        _ => other(value, text),
    }
}

fn of_object(fields: &Fields<'_>) -> ToolExecutionResult {
    let field = |key: &str| fields.get(key).map(|raw| json(raw));
    let success = field("success").is_none_or(|success| is_truthy(success.as_str()));
    let stop = field("stop_after_execution");
    if let Some(other) = stop.as_ref().filter(|stop| success && !matches!(stop.as_str(), "true" | "false")) {
        return ToolExecutionResult::failure(format!("{STOP_NOT_BOOLEAN}, not {}", kind(other.as_str())));
    }
    let said = field("content").or_else(|| field("message"));
    let error =
        || field("error").or_else(|| field("message")).map_or_else(|| FAILED.to_owned(), |error| text_of(&error));
    let items = field("content_items").filter(|items| items.as_str().starts_with('['));
    // The items of a result stand beside its structured content; twice would be twice the bytes.
    let kept = fields.iter().filter(|(key, _)| items.is_none() || *key != "content_items");
    let result = ToolExecutionResult {
        success,
        content: said.as_ref().map(text_of).unwrap_or_default(),
        error_message: (!success).then(error),
        structured_content: Some(JsonText::object(kept.map(|(key, raw)| (key.as_str(), json(raw))))),
        content_items: items.map(|items| content_items_from_json(&objects_only(&items))).unwrap_or_default(),
        ..ToolExecutionResult::default()
    };
    if success && stop.is_some_and(|stop| stop.as_str() == "true") { result.stopping() } else { result }
}

fn of_pair(success: bool, value: &RawValue, text: String) -> ToolExecutionResult {
    let structured_content = Some(json(value));
    if success {
        return ToolExecutionResult { structured_content, ..ToolExecutionResult::success(text) };
    }
    let error = if text.is_empty() { FAILED.to_owned() } else { text };
    ToolExecutionResult { structured_content, ..ToolExecutionResult::failure(error) }
}

fn other(value: &RawValue, text: Option<String>) -> ToolExecutionResult {
    let value = json(value);
    match value.text() {
        Some(text) => ToolExecutionResult::success(text),
        None => ToolExecutionResult {
            content: text.unwrap_or_else(|| text_of(&value)),
            ..ToolExecutionResult::structured(value)
        },
    }
}

/// The first item of a list, if it is a boolean.
fn first_boolean(list: &RawValue) -> Option<bool> {
    let items: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
    items.first()?.get().parse().ok()
}

/// Of a list of items only objects are items.
fn objects_only(list: &JsonText) -> JsonText {
    let items: Vec<&RawValue> = serde_json::from_str(list.as_str()).unwrap_or_default();
    JsonText::array(items.into_iter().filter(|item| item.get().starts_with('{')).map(json))
}

fn json(raw: &RawValue) -> JsonText {
    JsonText::from(raw.to_owned())
}

fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "text",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests;

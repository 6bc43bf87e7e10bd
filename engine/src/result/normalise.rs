//! From the JSON that a handler returned to a ToolExecutionResult (seed 000, "Return Value").

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ContentItem, ToolExecutionResult};
use crate::json::JsonText;

/// The keys of a returned object that mean something to the engine; all others are structured content.
const KNOWN_KEYS: [&str; 10] = [
    "success",
    "content",
    "message",
    "error_message",
    "error",
    "structured_content",
    "content_items",
    "post_history_messages",
    "metadata",
    "stop_after_execution",
];

/// Values stay as text, so that no digit of theirs is lost.
type RawObject<'a> = IndexMap<String, &'a RawValue>;

struct InvalidResult(String);

/// Makes a result of the JSON that a tool returned.
///
/// - text is the content; `null` is a success with nothing to say;
/// - an object may carry `success`, `content` (else `message`), `error_message` (else `error`), `structured_content`,
///   `content_items`, `post_history_messages`, `metadata` and `stop_after_execution`; with no `structured_content` all
///   its other keys are the structured content, so that nothing is lost;
/// - anything else is structured content.
///
/// `stop_after_execution` must be a boolean; any other type, and items that cannot be read, give a failed result.
pub fn result_from_json(json: &JsonText) -> ToolExecutionResult {
    let text = json.as_str();
    match text.as_bytes().first() {
        Some(b'n') => ToolExecutionResult::success(""),
        Some(b'"') => match json.to::<String>() {
            Ok(content) => ToolExecutionResult::success(content),
            Err(error) => ToolExecutionResult::failure(format!("the tool's result cannot be read: {error}")),
        },
        Some(b'{') => match serde_json::from_str::<RawObject<'_>>(text) {
            Ok(object) => {
                from_object(object).unwrap_or_else(|InvalidResult(reason)| ToolExecutionResult::failure(reason))
            }
            Err(error) => ToolExecutionResult::failure(format!("the tool's result cannot be read: {error}")),
        },
        _ => ToolExecutionResult::structured(json.clone()),
    }
}

fn from_object(mut object: RawObject<'_>) -> Result<ToolExecutionResult, InvalidResult> {
    let success = optional_boolean(&object, "success")?.unwrap_or(true);
    let stop = boolean(&object, "stop_after_execution")?;
    let mut result = ToolExecutionResult {
        success,
        content: text(&object, "content").or_else(|| text(&object, "message")).unwrap_or_default(),
        error_message: text(&object, "error_message").or_else(|| text(&object, "error")),
        content_items: items(&object)?,
        post_history_messages: list(&object, "post_history_messages")?,
        metadata: object.get("metadata").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default(),
        ..ToolExecutionResult::default()
    };
    result.effects.stop_after_execution = stop && success;
    if !success && result.error_message.is_none() && !result.content.is_empty() {
        result.error_message = Some(result.content.clone());
    }
    result.structured_content = match object.get("structured_content") {
        Some(raw) => Some(JsonText::trusted(raw.get().into())),
        None => {
            object.retain(|key, _| !KNOWN_KEYS.contains(&key.as_str()));
            if object.is_empty() { None } else { JsonText::from_serialize(&object).ok() }
        }
    };
    Ok(result)
}

/// A key that may also be `null`.
fn optional_boolean(object: &RawObject<'_>, key: &str) -> Result<Option<bool>, InvalidResult> {
    match object.get(key).map(|raw| raw.get()) {
        None | Some("null") => Ok(None),
        Some(_) => boolean(object, key).map(Some),
    }
}

fn boolean(object: &RawObject<'_>, key: &str) -> Result<bool, InvalidResult> {
    match object.get(key).map(|raw| raw.get()) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => {
            Err(InvalidResult(format!("`{key}` in the tool's result must be a boolean, not {}", kind(other))))
        }
    }
}

/// A text field; anything else is kept as its JSON, so that a number as content is still readable.
fn text(object: &RawObject<'_>, key: &str) -> Option<String> {
    let raw = object.get(key)?.get();
    let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
    (raw != "null" && !text.is_empty()).then_some(text)
}

fn items(object: &RawObject<'_>) -> Result<Vec<ContentItem>, InvalidResult> {
    list(object, "content_items")?
        .into_iter()
        .enumerate()
        .map(|(index, item)| {
            serde_json::from_value(item)
                .map_err(|error| InvalidResult(format!("`content_items/{index}` in the tool's result: {error}")))
        })
        .collect()
}

fn list(object: &RawObject<'_>, key: &str) -> Result<Vec<Value>, InvalidResult> {
    match object.get(key).map(|raw| raw.get()) {
        None | Some("null") => Ok(Vec::new()),
        Some(raw) => serde_json::from_str(raw)
            .map_err(|_| InvalidResult(format!("`{key}` in the tool's result must be a list, not {}", kind(raw)))),
    }
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
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> ToolExecutionResult {
        result_from_json(&JsonText::from(value))
    }

    #[test]
    fn stop_must_be_a_boolean_on_a_success() {
        assert!(read(json!({"stop_after_execution": true})).effects.stop_after_execution);
        assert!(!read(json!({"success": false, "stop_after_execution": true})).effects.stop_after_execution);
        for wrong in [json!("true"), json!(1), json!(null), json!([true])] {
            let result = read(json!({"content": "done", "stop_after_execution": wrong}));
            assert!(!result.success && !result.effects.stop_after_execution, "{wrong}");
            assert!(result.error_message.unwrap().contains("stop_after_execution"));
        }
    }

    #[test]
    fn a_nested_stop_flag_means_nothing() {
        assert!(!read(json!({"data": {"stop_after_execution": true}})).effects.stop_after_execution);
    }

    #[test]
    fn content_falls_back_to_message_and_other_keys_keep_their_digits() {
        let json = JsonText::parse(r#"{"message": "done", "count": 653247040368672768123456789}"#).unwrap();
        let result = result_from_json(&json);
        assert_eq!(result.content, "done");
        assert_eq!(result.structured_content.unwrap().as_str(), r#"{"count":653247040368672768123456789}"#);
    }

    #[test]
    fn both_spellings_of_media_are_read() {
        let result =
            read(json!({"content_items": [{"content_type": "image", "base64": "AAAA", "mime_type": "image/png"}]}));
        assert_eq!(result.content_items[0].image_base64(), Some(("image/png", "AAAA")));
    }

    #[test]
    fn an_item_that_cannot_be_read_fails_the_call_and_names_it() {
        let result = read(json!({"content_items": [{"type": "hologram"}]}));
        assert!(result.error_message.unwrap().contains("content_items/0"));
    }
}

//! From the JSON that a handler or a server returned to a ToolExecutionResult (seed 000, "Return Value").

use serde_json::{Map, Value};

use super::blocks::{RawObject, looks_like_blocks, raw_object, read_items, text_at, value_of};
use super::{ContentItem, ContentType, ToolExecutionResult};
use crate::json::outline::{Node, Outline};
use crate::json::write::JsonWriter;
use crate::json::{JsonText, lossy};

/// Messages that one result may add to the history.
const MAX_POST_HISTORY_MESSAGES: usize = 256;

/// The keys of a returned object that always mean something to the engine; all others are structured content.
const KNOWN_KEYS: [&str; 12] = [
    "success",
    "isError",
    "is_error",
    "content",
    "error_message",
    "structured_content",
    "structuredContent",
    "content_items",
    "post_history_messages",
    "metadata",
    "stop_after_execution",
    "_meta",
];

struct InvalidResult(String);

/// Makes a result of the JSON that a tool returned. Never panics, and keeps every digit.
///
/// - text is the content; `null` is a success with nothing to say, whose structured content is `null`;
/// - an object may carry `success` (or `is_error`), `content` (else `message`), `error_message` (else `error`),
///   `structured_content`, `content_items`, `post_history_messages`, `metadata` and `stop_after_execution`; with no
///   `structured_content` all its other keys are the structured content, so that nothing is lost;
/// - an object may also be a result of MCP: `content` a list of blocks, `isError`, `structuredContent`, `_meta`. Text
///   blocks are joined by line breaks, all others become items. What else stands beside them is metadata;
/// - anything else is structured content.
///
/// A block or item that is unknown or broken becomes an item of type `unknown` and fails nothing. A
/// `stop_after_execution`, `success` or `isError` that is no boolean, and messages for the history that are no list, give
/// a failed result. Media are lifted out of text and structured content: see [`ToolExecutionResult::lift_media`].
pub fn result_from_json(json: &JsonText) -> ToolExecutionResult {
    let mut result = read(json).unwrap_or_else(|InvalidResult(reason)| ToolExecutionResult::failure(reason));
    result.lift_media();
    result
}

/// Makes a result of a `CallToolResult` of MCP, which can ask for nothing but what MCP knows: keys of Toolyard's own,
/// such as `stop_after_execution`, mean nothing in it.
///
/// Anything but an object is read as by [`result_from_json`].
pub fn result_from_mcp(json: &JsonText) -> ToolExecutionResult {
    const KEYS: [&str; 4] = ["content", "isError", "structuredContent", "_meta"];
    let outline = Outline::of(json.as_str());
    if !outline.root().is_object() {
        return result_from_json(json);
    }
    let (known, others): (RawObject<'_>, RawObject<'_>) =
        raw_object(outline.root()).into_iter().partition(|(key, _)| KEYS.contains(&&**key));
    let mut result = from_object(known).unwrap_or_else(|InvalidResult(reason)| ToolExecutionResult::failure(reason));
    add_missing(&mut result.metadata, &others);
    result.lift_media();
    result
}

/// Reads a list of content items, one by one: what is unknown or broken becomes an item of type `unknown`. Anything but a
/// list has none.
pub fn content_items_from_json(json: &JsonText) -> Vec<ContentItem> {
    read_items(&Outline::of(json.as_str()).root().items().unwrap_or_default())
}

fn read(json: &JsonText) -> Result<ToolExecutionResult, InvalidResult> {
    let text = json.as_str();
    match text.as_bytes().first() {
        Some(b'"') => {
            let said = lossy::string(text).map(ToolExecutionResult::success);
            said.ok_or_else(|| InvalidResult("the tool's result cannot be read: bad text".to_owned()))
        }
        Some(b'{') => from_object(raw_object(Outline::of(text).root())),
        _ => Ok(ToolExecutionResult::structured(json.clone())),
    }
}

fn from_object(mut object: RawObject<'_>) -> Result<ToolExecutionResult, InvalidResult> {
    let is_error = optional_boolean(&object, "isError")?.or(optional_boolean(&object, "is_error")?);
    let success = optional_boolean(&object, "success")?.unwrap_or(true) && !is_error.unwrap_or(false);
    let stop = boolean(&object, "stop_after_execution")?;
    let blocks = blocks(&object);
    let is_mcp = is_mcp(&object, blocks.is_some());
    let mut result = ToolExecutionResult {
        success,
        error_message: text(&object, "error_message"),
        post_history_messages: post_history_messages(&object)?,
        metadata: metadata(&object).into(),
        ..ToolExecutionResult::default()
    };
    match blocks {
        Some(blocks) => take_blocks(&mut result, &blocks),
        None => result.content = text(&object, "content").unwrap_or_default(),
    }
    result.content_items.extend(content_items(&object));
    // What is said in a fallback key is said once: where the key is not needed it stays structured content.
    if result.content.is_empty()
        && let Some(message) = text(&object, "message")
    {
        result.content = message;
        object.shift_remove("message");
    }
    if !success && result.error_message.is_none() {
        result.error_message = text(&object, "error");
        if result.error_message.is_some() {
            object.shift_remove("error");
        }
    }
    result.effects.stop_after_execution = stop && success;
    if !success && result.error_message.is_none() && !result.content.is_empty() {
        result.error_message = Some(result.content.clone());
    }
    take_structured(&mut result, object, is_mcp);
    Ok(result)
}

/// The blocks in `content`, when it is a list of some.
fn blocks<'a>(object: &RawObject<'a>) -> Option<Vec<Node<'a>>> {
    let list = object.get("content")?.items()?;
    let is_envelope = ["isError", "structuredContent", "is_error"].iter().any(|key| object.contains_key(*key));
    (is_envelope || looks_like_blocks(&list)).then_some(list)
}

/// Whether the object is an envelope of MCP, whose other keys are no structured content.
fn is_mcp(object: &RawObject<'_>, has_blocks: bool) -> bool {
    object.contains_key("structuredContent")
        || has_blocks && ["isError", "_meta", "resultType"].iter().any(|key| object.contains_key(*key))
}

fn take_blocks(result: &mut ToolExecutionResult, blocks: &[Node<'_>]) {
    let mut texts = Vec::new();
    for item in read_items(blocks) {
        match item {
            ContentItem { content_type: ContentType::Text, text, .. } => texts.extend(text),
            media => result.content_items.push(media),
        }
    }
    texts.retain(|text| !text.is_empty());
    result.content = texts.join("\n");
}

fn take_structured(result: &mut ToolExecutionResult, mut object: RawObject<'_>, is_mcp: bool) {
    let structured = ["structured_content", "structuredContent"].iter().find_map(|key| object.get(*key).copied());
    object.retain(|key, value| !KNOWN_KEYS.contains(&&**key) && !is_empty_fallback(key, *value));
    let is_null = structured.is_none_or(Node::is_null);
    if is_mcp || !is_null {
        add_missing(&mut result.metadata, &object);
        result.structured_content = structured.map(|json| JsonText::trusted(json.raw().into()));
        return;
    }
    let all = JsonWriter::default()
        .object_unless_empty(|all| object.iter().for_each(|(key, value)| all.raw(key, value.raw())));
    result.structured_content = all.or_else(|| structured.map(|json| JsonText::trusted(json.raw().into())));
}

/// `"error": null` beside a success says nothing.
fn is_empty_fallback(key: &str, value: Node<'_>) -> bool {
    matches!(key, "error" | "message") && matches!(value.raw(), "null" | "\"\"")
}

fn metadata(object: &RawObject<'_>) -> Map<String, Value> {
    let mut metadata = match object.get("metadata").map(|metadata| value_of(*metadata)) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => Map::from_iter([("metadata".to_owned(), other)]),
    };
    if let Some(meta) = object.get("_meta").filter(|meta| !meta.is_null()) {
        metadata.insert("_meta".to_owned(), value_of(*meta));
    }
    metadata
}

fn add_missing(metadata: &mut Map<String, Value>, others: &RawObject<'_>) {
    for (key, value) in others {
        if !metadata.contains_key(&**key) {
            metadata.insert(key.to_string(), value_of(*value));
        }
    }
}

/// A key that may also be `null`.
fn optional_boolean(object: &RawObject<'_>, key: &str) -> Result<Option<bool>, InvalidResult> {
    match object.get(key).map(|value| value.raw()) {
        None | Some("null") => Ok(None),
        Some(_) => boolean(object, key).map(Some),
    }
}

fn boolean(object: &RawObject<'_>, key: &str) -> Result<bool, InvalidResult> {
    match object.get(key).map(|value| value.raw()) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => {
            Err(InvalidResult(format!("`{key}` in the tool's result must be a boolean, not {}", kind(other))))
        }
    }
}

/// A text field; anything else is kept as its JSON, so that a number as content is still readable.
fn text(object: &RawObject<'_>, key: &str) -> Option<String> {
    let raw = object.get(key)?.raw();
    match kind(raw) {
        "null" => None,
        "text" => text_at(object, &[key]),
        _ => Some(raw.to_owned()),
    }
}

/// A single item may stand without a list around it.
fn content_items(object: &RawObject<'_>) -> Vec<ContentItem> {
    match object.get("content_items") {
        None => Vec::new(),
        Some(items) if items.is_null() => Vec::new(),
        Some(items) => read_items(&items.items().unwrap_or_else(|| vec![*items])),
    }
}

fn post_history_messages(object: &RawObject<'_>) -> Result<Vec<JsonText>, InvalidResult> {
    const KEY: &str = "post_history_messages";
    let Some(given) = object.get(KEY).filter(|given| !given.is_null()) else { return Ok(Vec::new()) };
    let messages = given.items().ok_or_else(|| {
        InvalidResult(format!("`{KEY}` in the tool's result must be a list, not {}", kind(given.raw())))
    })?;
    if messages.len() > MAX_POST_HISTORY_MESSAGES {
        let reason = format!("`{KEY}` in the tool's result has more than {MAX_POST_HISTORY_MESSAGES} messages");
        return Err(InvalidResult(reason));
    }
    Ok(messages.into_iter().map(|message| JsonText::trusted(message.raw().into())).collect())
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

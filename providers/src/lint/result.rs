//! Results: what one call gave can be read by a model, and its media reach it (seed 000, "Verify and Troubleshoot").

use serde_json::Value;
use toolyard::{CallResult, ContentItem, ContentType};

use super::Finding;
use crate::plugin::STOP_NOT_BOOLEAN;

/// Characters of base64 in a row that are no text any more.
const MAX_RUN: usize = 512;
const STOP: &str = "stop_after_execution";

/// Everything there is to find about what one call of a plugin of this kind gave. What is wrong with a call that never ran
/// stands in the result itself.
pub fn lint_result(kind: &str, call: &CallResult) -> Vec<Finding> {
    let result = &*call.result;
    let structured = result.structured_content.as_ref();
    let members = structured.and_then(|json| json.to::<Value>().ok()).unwrap_or_default();
    let mut findings = Vec::new();
    let says_nothing = call.is_success() && result.content.trim().is_empty() && result.content_items.is_empty();
    if says_nothing && kind == "maibot" && members.is_object() {
        let message = "the result has neither `content` nor `message`: MaiBot shows a model nothing of it. Put the \
                       conclusion in `content`";
        findings.push(Finding::warning("result.no_content", message).at("/content"));
    } else if says_nothing && structured.is_none_or(|json| json.as_str() == "null") {
        findings.push(Finding::warning("result.empty", "the result is empty: a model cannot tell whether it worked"));
    }
    let is_refused = call.error.as_ref().is_some_and(|error| error.message.starts_with(STOP_NOT_BOOLEAN))
        || result.error_message.as_ref().is_some_and(|message| message.starts_with(STOP_NOT_BOOLEAN));
    if is_refused || members.get(STOP).is_some_and(|stop| !stop.is_boolean()) {
        let message = format!("`{STOP}` must be True or False; anything else fails the call");
        findings.push(Finding::error("result.stop_not_boolean", message).at(format!("/{STOP}")));
    }
    if has_base64(&result.content) || result.content_items.iter().any(was_in_text) {
        let message = "there are media as base64 in the text: a model sees letters. Return them in `content_items`";
        findings.push(Finding::error("result.base64_in_content", message).at("/content"));
    }
    for (index, item) in result.content_items.iter().enumerate() {
        if let Some(message) = fault(item) {
            findings.push(Finding::error("result.broken_item", message).at(format!("/content_items/{index}")));
        }
    }
    if kind == "maibot" && members.get("content_items").is_some() {
        let message = "`content_items` must be a list of objects";
        findings.push(Finding::error("result.broken_item", message).at("/content_items"));
    }
    let tool = call.origin.as_ref().map_or(&*call.tool, |origin| {
        origin.tool_id.as_str().strip_prefix(&*origin.provider).map_or(&*call.tool, |name| name.trim_start_matches('.'))
    });
    findings.into_iter().map(|finding| finding.of(tool)).collect()
}

/// Whether the engine has taken the item out of the text.
fn was_in_text(item: &ContentItem) -> bool {
    item.pointer.as_deref() == Some("/content")
}

fn has_base64(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.contains(";base64,") || text.as_bytes().split(|byte| !is_letter(*byte)).any(|run| run.len() > MAX_RUN)
}

fn fault(item: &ContentItem) -> Option<String> {
    let is_media = matches!(item.content_type, ContentType::Image | ContentType::Audio | ContentType::Binary);
    let has_bytes = item.data.is_some() || item.uri.is_some();
    match item.content_type {
        ContentType::Unknown => Some(
            "the item cannot be read: its `type` is image, audio, resource_link, resource, binary or text, and `data` is \
             base64"
                .to_owned(),
        ),
        ContentType::Text if item.text.is_none() => Some("the item is text without `text`".to_owned()),
        _ if is_media && !has_bytes => {
            Some(format!("the item is {} without `data` and without `uri`", item.content_type.as_str()))
        }
        ContentType::Image if item.mime_type.is_none() && item.data.is_some() => {
            Some("the item does not say its `mime_type`, such as image/png".to_owned())
        }
        _ => None,
    }
}

//! The text of a result for the model's history.

use std::borrow::Cow;

use super::{ContentItem, ContentType, ToolExecutionResult};
use crate::json::JsonText;

/// Stands where a tool gave nothing back: vendors refuse empty results.
pub(crate) const EMPTY_RESULT: &str = "(no output)";

/// What of a result stands in the history: the first that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The text, and a line for each of the media beside it.
    Content,
    /// The structured content, and whatever items there are.
    Structured,
    /// The items alone.
    Items,
    /// What went wrong.
    Error,
    /// Nothing at all; a placeholder stands for it.
    Nothing,
}

/// The name under which the `n`th item (from 1) of a call's result stands in the history (seed 000).
pub fn media_reference(call_id: &str, n: usize) -> String {
    format!("tool_result:{call_id}:{n}")
}

/// Content, then item summaries, then structured content, then the error. Media are named beside a text of its own
/// too, else the model could not tell which picture belongs to which result; so are those that were lifted out of the
/// structured content, beside what is left of it.
pub(super) fn text<'a>(result: &'a ToolExecutionResult, call_id: &str) -> Cow<'a, str> {
    match Shown::of(result) {
        Shown::Content => {
            let media = summaries(result, call_id, |item| item.content_type != ContentType::Text);
            joined(&result.content, &media)
        }
        Shown::Structured => {
            let structured = result.structured_content.as_ref().map_or("", JsonText::as_str);
            joined(structured, &summaries(result, call_id, |_| true))
        }
        Shown::Items => summaries(result, call_id, |_| true).into(),
        Shown::Error => result.error_message.as_deref().unwrap_or_default().into(),
        Shown::Nothing => EMPTY_RESULT.into(),
    }
}

// === impl Shown ===

impl Shown {
    pub(super) fn of(result: &ToolExecutionResult) -> Self {
        let is_null = result.structured_content.as_ref().is_none_or(|json| json.as_str() == "null");
        let was_lifted = result.content_items.iter().any(|item| item.pointer.is_some());
        if !result.content.trim().is_empty() {
            Self::Content
        } else if was_lifted && !is_null {
            Self::Structured
        } else if result.content_items.iter().any(says_something) {
            Self::Items
        } else if !is_null {
            Self::Structured
        } else if result.error_message.as_deref().is_some_and(|message| !message.trim().is_empty()) {
            Self::Error
        } else {
            Self::Nothing
        }
    }
}

fn says_something(item: &ContentItem) -> bool {
    item.content_type != ContentType::Text || item.text.as_deref().is_none_or(|text| !text.trim().is_empty())
}

fn joined<'a>(text: &'a str, media: &str) -> Cow<'a, str> {
    if media.is_empty() { text.into() } else { format!("{text}\n{media}").into() }
}

fn summaries(result: &ToolExecutionResult, call_id: &str, wanted: fn(&ContentItem) -> bool) -> String {
    let lines: Vec<String> = result
        .content_items
        .iter()
        .enumerate()
        .filter(|(_, item)| wanted(item) && says_something(item))
        .map(|(index, item)| item.summary(&media_reference(call_id, index + 1)))
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonText;

    fn picture() -> ContentItem {
        ContentItem {
            content_type: ContentType::Image,
            data: Some("iVBORw0KGgo=".into()),
            mime_type: Some("image/png".into()),
            name: Some("result.png".into()),
            ..ContentItem::default()
        }
    }

    #[test]
    fn the_first_that_is_not_empty_is_taken_in_the_order_of_the_seed() {
        let mut result = ToolExecutionResult::failure("broken");
        assert_eq!(result.history_content("c1"), "broken");
        result.structured_content = Some(JsonText::parse("{\"a\":1}").unwrap());
        assert_eq!(result.history_content("c1"), "{\"a\":1}");
        result.content_items = vec![ContentItem::text("seen")];
        assert_eq!(result.history_content("c1"), "seen");
        result.content = "said".into();
        assert_eq!(result.history_content("c1"), "said");
    }

    #[test]
    fn pictures_are_named_and_their_bytes_stay_out() {
        let result = ToolExecutionResult { content_items: vec![picture()], ..ToolExecutionResult::success("drawn") };
        assert_eq!(result.history_content("c1"), "drawn\n[image tool_result:c1:1, result.png, image/png, 8 bytes]");
    }

    #[test]
    fn nothing_at_all_gets_a_placeholder() {
        assert_eq!(ToolExecutionResult::success("  ").history_content("c1"), EMPTY_RESULT);
    }

    #[test]
    fn media_that_were_lifted_stand_beside_the_json_that_they_came_from() {
        let json = JsonText::parse(r#"{"a": ["data:image/png;base64,AAAA", 1]}"#).unwrap();
        let mut result = ToolExecutionResult::structured(json);
        result.lift_media();
        assert_eq!(
            result.history_content("c1"),
            "{\"a\": [\"[image 1: image/png, 3 bytes]\", 1]}\n[image tool_result:c1:1, image/png, 3 bytes]"
        );
    }

    #[test]
    fn structured_null_is_nothing_to_say() {
        let result = ToolExecutionResult::structured(JsonText::parse("null").unwrap());
        assert_eq!(result.history_content("c1"), EMPTY_RESULT);
        let failed = ToolExecutionResult { error_message: Some("broken".into()), success: false, ..result };
        assert_eq!(failed.history_content("c1"), "broken");
    }
}

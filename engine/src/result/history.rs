//! The text of a result for the model's history.

use super::{ContentItem, ContentType, ToolExecutionResult};

/// Stands where a tool gave nothing back: vendors refuse empty results.
pub(crate) const EMPTY_RESULT: &str = "(no output)";

/// The name under which the `n`th item (from 1) of a call's result stands in the history (seed 000).
pub fn media_reference(call_id: &str, n: usize) -> String {
    format!("tool_result:{call_id}:{n}")
}

/// Content, then item summaries, then structured content, then the error. Media are named beside a text of its own
/// too, else the model could not tell which picture belongs to which result.
pub(super) fn text(result: &ToolExecutionResult, call_id: &str) -> String {
    if !result.content.trim().is_empty() {
        let media = summaries(result, call_id, |item| item.content_type != ContentType::Text);
        return if media.is_empty() { result.content.clone() } else { format!("{}\n{media}", result.content) };
    }
    let items = summaries(result, call_id, |_| true);
    if !items.trim().is_empty() {
        return items;
    }
    if let Some(structured) = &result.structured_content {
        return structured.as_str().to_owned();
    }
    match result.error_message.as_deref() {
        Some(message) if !message.trim().is_empty() => message.to_owned(),
        _ => EMPTY_RESULT.to_owned(),
    }
}

fn summaries(result: &ToolExecutionResult, call_id: &str, wanted: fn(&ContentItem) -> bool) -> String {
    let lines: Vec<String> = result
        .content_items
        .iter()
        .enumerate()
        .filter(|(_, item)| wanted(item))
        .map(|(index, item)| item.summary(&media_reference(call_id, index + 1)))
        .collect();
    lines.join("\n")
}

/// Cuts the middle out of `text` so that at most `limit` bytes are left, on character boundaries, and says so.
///
/// Gives nothing when the text is short enough already.
pub(crate) fn truncate_middle(text: &str, limit: usize) -> Option<String> {
    if text.len() <= limit {
        return None;
    }
    let notice = format!("\n[… {} of {} bytes left out …]\n", text.len().saturating_sub(limit), text.len());
    let keep = limit.saturating_sub(notice.len());
    let head = floor_char_boundary(text, keep - keep / 3);
    let tail = ceil_char_boundary(text, text.len() - keep / 3);
    let mut cut = format!("{}{notice}{}", &text[..head], &text[tail..]);
    cut.truncate(floor_char_boundary(&cut, limit));
    Some(cut)
}

fn floor_char_boundary(text: &str, to: usize) -> usize {
    (0..=to.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

fn ceil_char_boundary(text: &str, from: usize) -> usize {
    (from..=text.len()).find(|index| text.is_char_boundary(*index)).unwrap_or(text.len())
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
        assert_eq!(result.history_content("c1"), "drawn\n[image tool_result:c1:1, result.png, image/png]");
    }

    #[test]
    fn nothing_at_all_gets_a_placeholder() {
        assert_eq!(ToolExecutionResult::success("  ").history_content("c1"), EMPTY_RESULT);
    }

    #[test]
    fn cut_text_keeps_head_and_tail_within_the_limit() {
        let text = format!("头{}尾", "字".repeat(1000));
        let cut = truncate_middle(&text, 300).unwrap();
        assert!(cut.len() <= 300, "{}", cut.len());
        assert!(cut.starts_with('头') && cut.ends_with('尾') && cut.contains("left out"), "{cut}");
        assert_eq!(truncate_middle("short", 300), None);
    }
}

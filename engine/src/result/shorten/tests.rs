use super::*;
use crate::json::JsonText;
use proptest::prelude::*;

const NOTICE: &str = "\n[cut]\n";

fn chars(chars: usize) -> TextLimit {
    TextLimit::new(chars, usize::MAX)
}

/// The result after a cut, with what was kept of it.
fn cut(mut result: ToolExecutionResult, limit: TextLimit) -> (ToolExecutionResult, Shortened, Option<KeptResult>) {
    let mut kept = None;
    let keep = |whole| {
        kept = Some(whole);
        Some("result_1".into())
    };
    let notice = |whole: &str, reference: Option<&str>| format!("\n[{} of {:?}]\n", whole.len(), reference);
    let shortened = shorten(&mut result, "c1", limit, keep, notice);
    (result, shortened, kept)
}

#[test]
fn cut_text_keeps_head_and_tail_within_the_limit() {
    let text = format!("头{}尾", "字".repeat(1000));
    for limit in [chars(100), TextLimit::new(0, 300), TextLimit::new(100, 200)] {
        let cut = truncate_middle(&text, limit, NOTICE).unwrap();
        assert!(limit.allows(&cut), "{limit:?}: {cut}");
        assert!(cut.starts_with('头') && cut.ends_with('尾') && cut.contains(NOTICE), "{cut}");
    }
    assert_eq!(truncate_middle("short", chars(5), NOTICE), None);
    assert_eq!(truncate_middle("四个汉字", chars(4), NOTICE), None);
}

#[test]
fn without_room_for_a_notice_there_is_an_ellipsis_or_nothing() {
    assert_eq!(truncate_middle("abcdefghij", chars(7), NOTICE).unwrap(), "abcd…ij");
    assert_eq!(truncate_middle("abcdefghij", TextLimit::new(0, 2), NOTICE).unwrap(), "ab");
    assert_eq!(truncate_middle("abcdefghij", TextLimit::new(0, 0), NOTICE).unwrap(), "");
}

#[test]
fn a_result_within_the_limit_is_left_alone() {
    let result = ToolExecutionResult::success("字".repeat(100));
    let (after, shortened, kept) = cut(result, chars(100));
    assert_eq!((after.content.chars().count(), shortened, kept), (100, Shortened::default(), None));
}

#[test]
fn the_whole_text_is_kept_and_the_history_keeps_the_limit() {
    let text = format!("head{}tail", "x".repeat(4 << 20));
    let (after, shortened, kept) = cut(ToolExecutionResult::success(text.clone()), chars(20_000));
    let history = after.history_content("c1");
    assert!(history.chars().count() <= 20_000 && history.starts_with("head") && history.ends_with("tail"));
    assert!(history.contains("[4194312 of Some(\"result_1\")]"));
    assert_eq!(shortened.reference.as_deref(), Some("result_1"));
    assert_eq!(&*kept.unwrap().text, text);
}

#[test]
fn structured_content_is_cut_for_the_model_and_stays_whole_for_programs() {
    let json = JsonText::parse(&format!("[\"{}\"]", "x".repeat(1000))).unwrap();
    let (after, shortened, kept) = cut(ToolExecutionResult::structured(json.clone()), chars(200));
    assert!(after.history_content("c1").len() <= 200 && shortened.truncated);
    assert_eq!(after.structured_content.as_ref(), Some(&json));
    assert_eq!(&*kept.unwrap().text, json.as_str());
    let (beyond, _, kept) = cut(ToolExecutionResult::structured(json.clone()), TextLimit::new(200, 500));
    assert_eq!((beyond.structured_content, kept.unwrap().structured_content), (None, Some(json)));
}

#[test]
fn structured_content_behind_a_text_costs_the_text_nothing() {
    let json = JsonText::parse(&format!("[\"{}\"]", "x".repeat(1000))).unwrap();
    let result = ToolExecutionResult { content: "short".into(), ..ToolExecutionResult::structured(json.clone()) };
    let (after, shortened, _) = cut(result, chars(200));
    assert_eq!((after.content.as_str(), after.structured_content, shortened.truncated), ("short", Some(json), false));
}

#[test]
fn pictures_are_not_cut_and_their_lines_have_room() {
    let picture = ContentItem {
        content_type: ContentType::Image,
        data: Some("A".repeat(10_000)),
        mime_type: Some("image/png".into()),
        ..ContentItem::default()
    };
    let result =
        ToolExecutionResult { content_items: vec![picture; 2], ..ToolExecutionResult::success("x".repeat(900)) };
    let (after, shortened, _) = cut(result, chars(500));
    let history = after.history_content("c1");
    assert!(shortened.truncated && history.chars().count() <= 500, "{}: {history}", history.chars().count());
    assert!(history.contains("[image tool_result:c1:2, image/png, 7500 bytes]"), "{history}");
    assert!(after.content_items.iter().all(|item| item.data.as_ref().unwrap().len() == 10_000));
}

#[test]
fn texts_of_items_share_one_limit() {
    let items = vec![ContentItem::text("a".repeat(400)), ContentItem::text("b".repeat(400))];
    let (after, shortened, _) =
        cut(ToolExecutionResult { content_items: items, ..ToolExecutionResult::success("") }, chars(500));
    let history = after.history_content("c1");
    assert!(shortened.truncated && history.chars().count() <= 501, "{}", history.chars().count());
    assert!(history.starts_with(&"a".repeat(400)) && history.ends_with('b'), "{history}");
}

#[test]
fn an_error_is_cut_wherever_it_stands() {
    let (after, _, _) = cut(ToolExecutionResult::failure("x".repeat(1000)), chars(200));
    assert!(after.error_message.unwrap().len() <= 200);
    let both = ToolExecutionResult { content: "y".repeat(1000), ..ToolExecutionResult::failure("x".repeat(1000)) };
    let (after, _, _) = cut(both, chars(200));
    assert!(after.error_message.unwrap().len() <= 200 && after.content.len() <= 200);
}

proptest! {
    #[test]
    fn any_cut_is_within_both_limits_and_made_of_head_and_tail(
        text in "(a|字|😀|\\n){0,400}",
        chars in 0_usize..300,
        bytes in 0_usize..600,
    ) {
        let limit = TextLimit::new(chars, bytes);
        let Some(cut) = truncate_middle(&text, limit, NOTICE) else {
            prop_assert!(limit.allows(&text));
            return Ok(());
        };
        prop_assert!(cut.len() <= bytes && (chars == 0 || cut.chars().count() <= chars));
        if let Some((head, tail)) = cut.split_once(NOTICE).or_else(|| cut.split_once(ELLIPSIS)) {
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            prop_assert!(limit.bytes < 64 || limit.chars < 64 || !head.is_empty() && !tail.is_empty());
        } else {
            prop_assert!(text.starts_with(&cut) && cut.len() < 4);
        }
    }
}

use super::*;
use crate::result::ContentType;
use proptest::prelude::*;

fn lifted(json: &str) -> (String, Vec<ContentItem>) {
    let mut result = ToolExecutionResult::structured(JsonText::parse(json).unwrap());
    result.lift_media();
    (result.structured_content.unwrap().as_str().to_owned(), result.content_items)
}

#[test]
fn a_whole_string_becomes_an_item_and_prose_stays() {
    let (json, items) = lifted(
        r#"{"n": 653247040368672768123456789, "a": ["data:image/png;base64,AAAA", "see data:image/png;base64,AAAA here"]}"#,
    );
    assert_eq!(
        json,
        r#"{"n": 653247040368672768123456789, "a": ["[image 1: image/png, 3 bytes]", "see data:image/png;base64,AAAA here"]}"#
    );
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].image_base64(), Some(("image/png", "AAAA")));
    assert_eq!(items[0].pointer.as_deref(), Some("/a/0"));
}

#[test]
fn keys_escapes_and_depth_are_understood() {
    let (json, items) = lifted(
        r#"{"data:image/png;base64,AAAA" : 1, "x/y~\"z": [[], {"v": "data:audio\/wav;base64,AA=="}], "s": "\"data:image/png;base64,AAAA"}"#,
    );
    assert_eq!(
        json,
        r#"{"data:image/png;base64,AAAA" : 1, "x/y~\"z": [[], {"v": "[audio 1: audio/wav, 1 bytes]"}], "s": "\"data:image/png;base64,AAAA"}"#
    );
    assert_eq!(items[0].content_type, ContentType::Audio);
    assert_eq!(items[0].pointer.as_deref(), Some("/x~1y~0\"z/1/v"));
}

#[test]
fn the_same_bytes_are_one_item_however_often_they_are_said() {
    let mut result = ToolExecutionResult {
        content: r#"{"image": "data:image/png;base64,AAAA"}"#.into(),
        content_items: vec![ContentItem { data: Some("AAAA".into()), ..ContentItem::default() }],
        ..ToolExecutionResult::structured(JsonText::parse(r#"["data:image/png;base64,AAAA"]"#).unwrap())
    };
    result.lift_media();
    assert_eq!(result.content_items.len(), 1);
    assert_eq!(result.content, r#"{"image": "[image 1: image/png, 3 bytes]"}"#);
    assert_eq!(result.structured_content.unwrap().as_str(), r#"["[image 1: image/png, 3 bytes]"]"#);
}

#[test]
fn a_text_that_is_a_picture_is_one() {
    let mut result = ToolExecutionResult::success("data:image/png;base64,AAAA\n");
    result.lift_media();
    assert_eq!((result.content.as_str(), result.content_items.len()), ("", 1));
    let mut prose = ToolExecutionResult::success("data:image/png;base64,AAAA is a picture");
    prose.lift_media();
    assert_eq!(prose.content, "data:image/png;base64,AAAA is a picture");
}

#[test]
fn items_beyond_their_number_leave_a_marker_without_one() {
    let strings: Vec<String> = (0..MAX_ITEMS + 2).map(|n| format!("data:image/png;base64,{n:04}")).collect();
    let (json, items) = lifted(&serde_json::to_string(&strings).unwrap());
    assert_eq!(items.len(), MAX_ITEMS);
    assert_eq!(json.matches("[image left out: image/png, 3 bytes]").count(), 2);
    assert!(!json.contains("base64"), "{json}");
}

#[test]
fn a_deep_document_is_walked_without_recursion() {
    let depth = 100_000;
    let json = format!("{}\"data:image/png;base64,AAAA\"{}", "[".repeat(depth), "]".repeat(depth));
    let mut items = Vec::new();
    assert!(lift(&json, &mut items).unwrap().contains("[image 1"));
    assert_eq!(items[0].pointer.as_deref(), Some(""));
}

proptest! {
    #[test]
    fn what_is_lifted_stays_valid_and_is_found_by_its_pointer(
        keys in prop::collection::vec(any::<String>(), 1..4),
        bytes in "[A-Za-z0-9+/]{4}",
    ) {
        let uri = format!("data:image/png;base64,{bytes}");
        let inner = serde_json::json!([1, uri.clone(), format!(" {uri}")]);
        let value = keys.iter().rev().fold(inner, |value, key| serde_json::json!({key.clone(): value, "other": "x"}));
        let (json, items) = lifted(&value.to_string());
        let after: serde_json::Value = serde_json::from_str(&json).unwrap();
        let found = value.pointer(items[0].pointer.as_deref().unwrap());
        // Read from the value as it was: the pointer must lead to what was lifted.
        prop_assert_eq!(found.and_then(serde_json::Value::as_str), Some(uri.as_str()));
        prop_assert_eq!(after.pointer(items[0].pointer.as_deref().unwrap()).unwrap(), "[image 1: image/png, 3 bytes]");
    }
}

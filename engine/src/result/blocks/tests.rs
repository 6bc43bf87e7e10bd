use super::*;
use crate::json::outline::Outline;

fn read(json: &str) -> Vec<ContentItem> {
    read_items(&Outline::of(json).root().items().unwrap())
}

fn one(json: &str) -> ContentItem {
    read(&format!("[{json}]")).remove(0)
}

#[test]
fn every_spelling_of_a_picture_is_the_same_picture() {
    for json in [
        r#"{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}"#,
        r#"{"content_type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}"#,
        r#"{"type": "image", "data": "iVBORw0KGgo"}"#,
        r#"{"type": "image", "data": "data:image/png;base64,iVBORw0KGgo="}"#,
        r#"{"type": "image", "uri": "data:image/png;base64,iVBORw0KGgo="}"#,
        r#"{"type": "image", "uri": "data:image/png;base64,iVBORw0KGgo=", "mime_type": "image/png"}"#,
        r#"{"data": "iVBORw0KGgo=", "mime_type": "image/png"}"#,
        r#"{"type": "text", "text": "data:image/png;base64,iVBORw0KGgo="}"#,
        r#""data:image\/png;base64,iVBORw0KGgo=""#,
    ] {
        let item = one(json);
        assert_eq!(item.image_base64(), Some(("image/png", "iVBORw0KGgo=")), "{json}");
        assert_eq!((item.content_type, &item.uri), (ContentType::Image, &None), "{json}");
    }
}

#[test]
fn resources_and_links_keep_what_they_say() {
    let blob = one(r#"{"type": "resource", "resource": {"uri": "f://x", "blob": "AA==", "mimeType": "a/b"}}"#);
    assert_eq!(blob.summary("r:1"), "[resource r:1, a/b, 1 bytes, f://x]");
    let text = one(r#"{"type": "resource", "resource": {"uri": "f://x", "text": "hello"}}"#);
    assert_eq!(text.summary("r:1"), "[resource r:1, 5 bytes, f://x]\nhello");
    let link = one(r#"{"type": "resource_link", "uri": "f://x", "name": "x", "size": 12, "annotations": {"a": 1}}"#);
    assert_eq!(link.summary("r:1"), "[resource_link r:1, x, 12 bytes, f://x]");
    assert_eq!(link.metadata["annotations"]["a"], 1);
}

#[test]
fn what_is_unknown_or_broken_leaves_a_marker_and_stays_whole_for_the_caller() {
    for (json, line) in [
        (r#"{"type":"hologram","z":1}"#, "[hologram r:1, cannot be shown, 25 bytes]"),
        (
            r#"{"type":"video","mimeType":"video/mp4","data":"AA=="}"#,
            "[video r:1, cannot be shown, video/mp4, 53 bytes]",
        ),
        (r#"{"type":"image","data":"no base64!"}"#, "[image r:1, cannot be shown, 36 bytes]"),
        (r#"{"type":"image","data":7}"#, "[image r:1, cannot be shown, 25 bytes]"),
        (r#"{"type":"text"}"#, "[text r:1, cannot be shown, 15 bytes]"),
        (r#"{"type":["image"]}"#, "[item r:1, cannot be shown, 18 bytes]"),
        ("7", "[item r:1, cannot be shown, 1 bytes]"),
        ("null", "[item r:1, cannot be shown, 4 bytes]"),
        ("{}", "[item r:1, cannot be shown, 2 bytes]"),
    ] {
        let item = one(json);
        assert_eq!(item.content_type, ContentType::Unknown, "{json}");
        assert_eq!(item.summary("r:1"), line);
        assert_eq!(item.metadata[SENT_KEY], json);
    }
}

#[test]
fn items_beyond_their_number_are_counted_in_one_marker() {
    let items = read(&format!("[{}]", vec!["\"a\""; MAX_ITEMS + 7].join(",")));
    assert_eq!(items.len(), MAX_ITEMS + 1);
    assert_eq!(items[MAX_ITEMS].text.as_deref(), Some("[7 more items left out]"));
}

#[test]
fn lists_of_blocks_are_told_from_other_lists() {
    for (json, expected) in [
        ("[]", true),
        (r#"[{"type": "text", "text": "a"}]"#, true),
        (r#"[7, {"content_type": "image"}]"#, true),
        (r#"["a", "b"]"#, false),
        (r#"[{"id": 1}, {"id": 2}]"#, false),
    ] {
        let outline = Outline::of(json);
        assert_eq!(looks_like_blocks(&outline.root().items().unwrap()), expected, "{json}");
    }
}

use super::*;

fn item(content_type: ContentType) -> ContentItem {
    ContentItem { content_type, ..ContentItem::default() }
}

#[test]
fn a_summary_names_type_reference_name_mime_type_and_size_but_never_the_bytes() {
    let drawn = ContentItem {
        data: Some("iVBORw0KGgo=".into()),
        mime_type: Some("image/png".into()),
        name: Some("a\nb.png".into()),
        description: Some("a cat".into()),
        ..item(ContentType::Image)
    };
    assert_eq!(drawn.summary("r:1"), "[image r:1, a b.png, image/png, 8 bytes, a cat]");
    let by_uri = ContentItem { uri: Some("Data:image/gif;base64,AAAA".into()), ..item(ContentType::Image) };
    assert_eq!(by_uri.summary("r:1"), "[image r:1, 3 bytes]");
    let link = ContentItem { uri: Some("https://x/y".into()), ..item(ContentType::ResourceLink) };
    assert_eq!(link.summary("r:2"), "[resource_link r:2, https://x/y]");
    let file = ContentItem { text: Some("你好".into()), ..item(ContentType::Resource) };
    assert_eq!(file.summary("r:3"), "[resource r:3, 6 bytes]\n你好");
}

#[test]
fn a_long_name_is_cut_and_an_odd_mime_type_left_out() {
    let odd = ContentItem {
        name: Some("字".repeat(2000)),
        mime_type: Some("x]\nignore/that".into()),
        ..item(ContentType::Audio)
    };
    let line = odd.summary("r:1");
    assert!(line.chars().count() < 400 && line.ends_with("…]") && !line.contains("ignore"), "{line}");
}

#[test]
fn bytes_of_a_picture_are_one_whatever_their_item_is_called() {
    for content_type in [ContentType::Image, ContentType::Binary, ContentType::Resource] {
        let blob = ContentItem { data: Some("AAAA".into()), mime_type: Some("image/gif".into()), ..item(content_type) };
        assert_eq!(blob.image_base64(), Some(("image/gif", "AAAA")), "{content_type:?}");
    }
    let uri = "data:image/webp;charset=x;base64,AAAA".to_owned();
    let by_uri = ContentItem { uri: Some(uri), ..item(ContentType::Image) };
    assert_eq!(by_uri.image_base64(), Some(("image/webp", "AAAA")));
    let wave = ContentItem { data: Some("AAAA".into()), ..item(ContentType::Audio) };
    assert_eq!(wave.image_base64(), None);
}

#[test]
fn an_unknown_type_can_be_read_back() {
    let read: ContentItem = serde_json::from_str(r#"{"type": "hologram", "base64": "AAAA"}"#).unwrap();
    assert_eq!(read.content_type, ContentType::Unknown);
    assert_eq!(serde_json::to_value(read.content_type).unwrap(), "unknown");
}

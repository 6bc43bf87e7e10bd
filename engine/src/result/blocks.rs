//! Content blocks of MCP and content items of seed 000: read one by one, so that a broken one costs only itself.

use std::borrow::Cow;

use ahash::RandomState;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::base64;
use super::content::{ContentItem, ContentType, SIZE_KEY, TYPE_KEY};
use super::data_uri::DataUri;
use crate::json::outline::Node;

/// Items of one result; those beyond are counted in one marker.
pub(super) const MAX_ITEMS: usize = 256;
/// Key of the metadata of an item that cannot be read: the item as it was sent.
const SENT_KEY: &str = "json";
/// Keys that are read into fields of their own; all others are metadata.
const FIELDS: [&str; 14] = [
    "type",
    "content_type",
    "text",
    "data",
    "base64",
    "blob",
    "uri",
    "url",
    "mime_type",
    "mimeType",
    "name",
    "description",
    "metadata",
    "resource",
];

/// An object whose values stay as text, so that no digit of theirs is lost.
pub(super) type RawObject<'a> = IndexMap<Cow<'a, str>, Node<'a>, RandomState>;

/// The members of a value that is an object.
pub(super) fn raw_object(node: Node<'_>) -> RawObject<'_> {
    node.members_but(&[]).into_iter().collect()
}

/// Reads a list of blocks or items.
pub(super) fn read_items(list: &[Node<'_>]) -> Vec<ContentItem> {
    let mut items: Vec<ContentItem> = list.iter().take(MAX_ITEMS).map(|item| read_item(*item)).collect();
    if list.len() > MAX_ITEMS {
        items.push(ContentItem::text(format!("[{} more items left out]", list.len() - MAX_ITEMS)));
    }
    items
}

/// Whether a list can be one of blocks: something in it names its type.
pub(super) fn looks_like_blocks(list: &[Node<'_>]) -> bool {
    let names_type =
        |block: &Node<'_>, key: &str| block.get(key).and_then(Node::text).is_some_and(|name| !name.is_empty());
    list.is_empty() || list.iter().any(|block| ["type", "content_type"].iter().any(|key| names_type(block, key)))
}

/// The first of these keys that holds text which is not empty.
pub(super) fn text_at(object: &RawObject<'_>, keys: &[&str]) -> Option<String> {
    let texts = keys.iter().filter_map(|key| object.get(*key)?.text());
    texts.into_iter().find(|text| !text.is_empty()).map(Cow::into_owned)
}

fn read_item(item: Node<'_>) -> ContentItem {
    match item.text() {
        Some(text) => text_item(text.into_owned()),
        None if item.is_object() => read_block(&raw_object(item), item.raw()),
        None => unreadable(None, ContentItem::default(), item.raw()),
    }
}

/// A text that is one `data:` URI is the picture, not the text.
fn text_item(text: String) -> ContentItem {
    let uri = DataUri::parse(text.trim()).map(|uri| ContentItem::from_data_uri(&uri));
    uri.unwrap_or_else(|| ContentItem::text(text))
}

fn read_block(block: &RawObject<'_>, sent: &str) -> ContentItem {
    let called = text_at(block, &["type", "content_type"]);
    // MCP puts an embedded resource one level down.
    let inner = block.get("resource").filter(|inner| inner.is_object()).map(|inner| raw_object(*inner));
    let body = inner.as_ref().unwrap_or(block);
    let is_given = |value: &Node<'_>| !matches!(value.raw(), "null" | "\"\"");
    let has_bytes = ["data", "base64", "blob"].iter().any(|key| body.get(*key).is_some_and(is_given));
    let mut item = ContentItem {
        text: body.get("text").and_then(|text| text.text()).map(Cow::into_owned),
        uri: text_at(body, &["uri", "url"]),
        mime_type: text_at(body, &["mimeType", "mime_type"]).or_else(|| text_at(block, &["mimeType", "mime_type"])),
        name: text_at(body, &["name", "title"]).or_else(|| text_at(block, &["name", "title"])),
        description: text_at(body, &["description"]).or_else(|| text_at(block, &["description"])),
        metadata: metadata(block, inner.as_ref()),
        ..ContentItem::default()
    };
    let given = text_at(body, &["data", "base64", "blob"]);
    take_bytes(&mut item, given.as_deref());
    item.content_type = match &called {
        Some(name) => ContentType::named(name),
        None => guess_type(&item, inner.is_some()),
    };
    if !is_complete(&item, has_bytes) {
        return unreadable(called.as_deref(), item, sent);
    }
    match item.content_type {
        ContentType::Text => ContentItem { metadata: item.metadata, ..text_item(item.text.unwrap_or_default()) },
        _ => item,
    }
}

/// Bytes come as base64, as a `data:` URI in their place, or as a `data:` URI for an address.
fn take_bytes(item: &mut ContentItem, given: Option<&str>) {
    let uri = given.and_then(DataUri::parse).or_else(|| item.uri.as_deref().and_then(DataUri::parse));
    if let Some(uri) = uri {
        item.data = Some(uri.base64.to_string());
        item.mime_type.get_or_insert_with(|| uri.mime_type.to_owned());
        if item.uri.as_deref().is_some_and(|address| DataUri::parse(address).is_some()) {
            item.uri = None;
        }
        return;
    }
    item.data = given.and_then(base64::standard).map(Cow::into_owned);
    if item.mime_type.is_none() {
        item.mime_type = item.data.as_deref().and_then(sniff).map(str::to_owned);
    }
}

/// The MIME type of a picture whose sender forgot it, by its first bytes.
fn sniff(base64: &str) -> Option<&'static str> {
    const STARTS: [(&str, &str); 4] =
        [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];
    STARTS.into_iter().find(|(start, _)| base64.starts_with(start)).map(|(_, mime_type)| mime_type)
}

fn guess_type(item: &ContentItem, is_embedded: bool) -> ContentType {
    if is_embedded {
        ContentType::Resource
    } else if item.data.is_some() {
        item.mime_type.as_deref().map_or(ContentType::Binary, ContentType::of_mime)
    } else if item.text.is_some() {
        ContentType::Text
    } else if item.uri.is_some() {
        ContentType::ResourceLink
    } else {
        ContentType::Unknown
    }
}

/// Whether an item has what its type needs. Bytes that were sent and could not be read make it broken.
fn is_complete(item: &ContentItem, has_bytes: bool) -> bool {
    let bytes_were_read = !has_bytes || item.data.is_some();
    match item.content_type {
        ContentType::Text => item.text.is_some(),
        ContentType::Image | ContentType::Audio | ContentType::Binary => {
            bytes_were_read && (item.data.is_some() || item.uri.is_some())
        }
        ContentType::ResourceLink => item.uri.is_some() || item.data.is_some(),
        ContentType::Resource => bytes_were_read && (item.data.is_some() || item.text.is_some() || item.uri.is_some()),
        ContentType::Unknown => false,
    }
}

/// A marker: the model learns that something was there, the caller gets it as it was sent.
fn unreadable(called: Option<&str>, read: ContentItem, sent: &str) -> ContentItem {
    let mut metadata = Map::new();
    metadata.insert(TYPE_KEY.to_owned(), called.unwrap_or("item").into());
    metadata.insert(SIZE_KEY.to_owned(), sent.len().into());
    metadata.insert(SENT_KEY.to_owned(), sent.into());
    let ContentItem { mime_type, name, description, .. } = read;
    ContentItem { content_type: ContentType::Unknown, mime_type, name, description, metadata, ..ContentItem::default() }
}

/// What its sender calls metadata, and every key that has no field.
fn metadata(block: &RawObject<'_>, inner: Option<&RawObject<'_>>) -> Map<String, Value> {
    let mut metadata: Map<String, Value> =
        block.get("metadata").and_then(|own| serde_json::from_str(own.raw()).ok()).unwrap_or_default();
    for (key, value) in inner.into_iter().flatten().chain(block) {
        if !FIELDS.contains(&&**key) && !value.is_null() && !metadata.contains_key(&**key) {
            metadata.insert(key.to_string(), value_of(*value));
        }
    }
    metadata
}

/// A value that is too deep to be parsed stays as its text.
pub(super) fn value_of(value: Node<'_>) -> Value {
    serde_json::from_str(value.raw()).unwrap_or_else(|_| Value::String(value.raw().to_owned()))
}

#[cfg(test)]
mod tests;

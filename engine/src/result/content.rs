//! Media and other items beside a result's text (seed 000, "Returning Images and Other Media").

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::base64;
use super::data_uri::{DataUri, is_mime_type};

/// Characters of a name, a description or an address that stand in a summary.
const MAX_SUMMARY_PART: usize = 300;
/// Key of the metadata of an item of an unknown type: what its tool called it.
pub(super) const TYPE_KEY: &str = "type";
/// Key of the metadata: bytes of what an item points to or stands for.
pub(super) const SIZE_KEY: &str = "size";

/// One item beside the text of a result. Both spellings of seed 000 are read: `type` or `content_type`, `data` or
/// `base64`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContentItem {
    /// What the item is.
    #[serde(rename = "type", alias = "content_type")]
    pub content_type: ContentType,
    /// Text of a text item or of an embedded text resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Base64 of the bytes.
    #[serde(alias = "base64", skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Address of the item; images may use a `data:` URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// MIME type, such as `image/png`.
    #[serde(alias = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// File name or display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the item shows, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where in the structured content the item was taken from, as a JSON pointer; a marker stands there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Whatever else is said of it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The kinds of content item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentType {
    /// Plain text.
    #[default]
    Text,
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// An address to fetch something from.
    ResourceLink,
    /// Something embedded.
    Resource,
    /// Any other bytes.
    Binary,
    /// Something that the engine does not know or cannot read; its metadata say what its tool called it.
    #[serde(other)]
    Unknown,
}

// === impl ContentType ===

impl ContentType {
    /// The name in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::ResourceLink => "resource_link",
            Self::Resource => "resource",
            Self::Binary => "binary",
            Self::Unknown => "unknown",
        }
    }

    /// The type with this name.
    pub(super) fn named(name: &str) -> Self {
        let known = [Self::Text, Self::Image, Self::Audio, Self::ResourceLink, Self::Resource, Self::Binary];
        known.into_iter().find(|known| known.as_str() == name).unwrap_or(Self::Unknown)
    }

    /// The type for bytes of this MIME type.
    pub(super) fn of_mime(mime_type: &str) -> Self {
        match mime_type.split_once('/') {
            Some((kind, _)) if kind.eq_ignore_ascii_case("image") => Self::Image,
            Some((kind, _)) if kind.eq_ignore_ascii_case("audio") => Self::Audio,
            _ => Self::Binary,
        }
    }
}

// === impl ContentItem ===

impl ContentItem {
    /// A text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// The item that a base64 `data:` URI stands for.
    pub(super) fn from_data_uri(uri: &DataUri<'_>) -> Self {
        Self {
            content_type: ContentType::of_mime(uri.mime_type),
            data: Some(uri.base64.to_string()),
            mime_type: Some(uri.mime_type.to_owned()),
            ..Self::default()
        }
    }

    /// The picture as MIME type and base64, from `data` or from a `data:` URI. Bytes of another kind whose MIME type is
    /// a picture's count as one.
    pub fn image_base64(&self) -> Option<(&str, &str)> {
        let named = self.mime_type.as_deref();
        let is_image = match self.content_type {
            ContentType::Image => true,
            ContentType::Binary | ContentType::Resource => {
                named.is_some_and(|mime_type| ContentType::of_mime(mime_type) == ContentType::Image)
            }
            ContentType::Text | ContentType::Audio | ContentType::ResourceLink | ContentType::Unknown => false,
        };
        if !is_image {
            return None;
        }
        if let Some(data) = &self.data {
            return Some((named.unwrap_or("image/png"), data));
        }
        let (head, data) = self.uri.as_deref()?.strip_prefix("data:")?.split_once(',')?;
        let parameters = head.strip_suffix(";base64")?;
        Some((parameters.split(';').next().filter(|mime| !mime.is_empty()).or(named).unwrap_or("image/png"), data))
    }

    /// Bytes that the item carries, for the limit on results.
    pub(crate) fn size(&self) -> usize {
        let texts = [&self.text, &self.data, &self.uri, &self.description, &self.name, &self.mime_type, &self.pointer];
        texts.into_iter().flatten().map(String::len).sum::<usize>() + object_size(&self.metadata)
    }

    /// One line for the model instead of the bytes, with its type, reference, name, MIME type and size; then the item's
    /// own text, if it has one.
    pub(crate) fn summary(&self, reference: &str) -> String {
        if let (ContentType::Text, Some(text)) = (self.content_type, &self.text) {
            return text.clone();
        }
        let line = self.summary_line(reference);
        match &self.text {
            Some(text) => format!("{line}\n{text}"),
            None => line,
        }
    }

    /// The line alone.
    pub(super) fn summary_line(&self, reference: &str) -> String {
        let unknown = self.content_type == ContentType::Unknown;
        let called = self.metadata.get(TYPE_KEY).and_then(Value::as_str).filter(|_| unknown);
        let mut parts = vec![format!("{} {reference}", one_line(called.unwrap_or(self.content_type.as_str())))];
        if unknown {
            parts.push("cannot be shown".to_owned());
        }
        parts.extend(self.name.as_deref().map(|name| one_line(name).into_owned()));
        parts.extend(self.mime_type.clone().filter(|mime_type| is_mime_type(mime_type)));
        parts.extend(self.bytes().map(|bytes| format!("{bytes} bytes")));
        parts.extend(self.description.as_deref().map(|description| one_line(description).into_owned()));
        let address = self.uri.as_deref().filter(|uri| !has_data_scheme(uri));
        parts.extend(address.map(|uri| one_line(uri).into_owned()));
        format!("[{}]", parts.join(", "))
    }

    /// Bytes of what the item stands for, as far as it is known.
    fn bytes(&self) -> Option<u64> {
        let in_uri = || self.uri.as_deref().filter(|uri| has_data_scheme(uri)).and_then(|uri| uri.split_once(','));
        let carried = match (&self.data, &self.text) {
            (Some(data), _) => Some(base64::decoded_len(data)),
            (None, Some(text)) => Some(text.len()),
            (None, None) => in_uri().map(|(_, data)| base64::decoded_len(data)),
        };
        let told = || self.metadata.get(SIZE_KEY).and_then(Value::as_u64);
        carried.and_then(|bytes| u64::try_from(bytes).ok()).or_else(told)
    }
}

/// Bytes of an object's keys and values, about as they would be printed.
pub(super) fn object_size(object: &Map<String, Value>) -> usize {
    object.iter().map(|(key, value)| key.len() + value_size(value)).sum()
}

fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_size).sum::<usize>() + 2,
        Value::Object(object) => object_size(object) + 2,
    }
}

fn has_data_scheme(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// What a tool says of an item may not break out of its line or flood the history.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_SUMMARY_PART && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let calm = |character: char| if character.is_control() { ' ' } else { character };
    let mut line: String = text.chars().take(MAX_SUMMARY_PART).map(calm).collect();
    if text.chars().nth(MAX_SUMMARY_PART).is_some() {
        line.push('…');
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests;

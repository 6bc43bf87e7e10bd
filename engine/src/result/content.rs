//! Media and other items beside a result's text (seed 000, "Returning Images and Other Media").

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
        }
    }
}

// === impl ContentItem ===

impl ContentItem {
    /// A text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// The picture as MIME type and base64, from `data` or from a `data:` URI.
    pub fn image_base64(&self) -> Option<(&str, &str)> {
        if self.content_type != ContentType::Image {
            return None;
        }
        if let Some(data) = &self.data {
            return Some((self.mime_type.as_deref().unwrap_or("image/png"), data));
        }
        let (head, data) = self.uri.as_deref()?.strip_prefix("data:")?.split_once(',')?;
        head.strip_suffix(";base64").map(|mime| (mime, data))
    }

    /// Bytes of text that the item carries, for the limit on results.
    pub(crate) fn size(&self) -> usize {
        [&self.text, &self.data, &self.uri, &self.description, &self.name].into_iter().flatten().map(String::len).sum()
    }

    /// One line for the model instead of the bytes.
    pub(crate) fn summary(&self, reference: &str) -> String {
        if let (ContentType::Text, Some(text)) = (self.content_type, &self.text) {
            return text.clone();
        }
        let mut line = format!("[{} {reference}", self.content_type.as_str());
        for part in [&self.name, &self.mime_type, &self.description].into_iter().flatten() {
            line.push_str(", ");
            line.push_str(part);
        }
        if let Some(uri) = self.uri.as_deref().filter(|uri| !uri.starts_with("data:")) {
            line.push_str(", ");
            line.push_str(uri);
        }
        line.push(']');
        if let Some(text) = &self.text {
            line.push('\n');
            line.push_str(text);
        }
        line
    }
}

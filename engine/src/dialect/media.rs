//! Pictures of results, on their way into the history.

use super::MediaMode;
use crate::result::{CallResult, media_reference};

/// One picture with the reference by which its result's text names it.
pub(super) struct Picture<'a> {
    pub(super) reference: String,
    pub(super) mime_type: &'a str,
    /// Base64 of the bytes.
    pub(super) data: &'a str,
}

/// The kinds of picture that every vendor takes.
const KNOWN: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The pictures of a result. A picture of another kind, or whose bytes are no base64, is only named in the text: vendors
/// refuse the whole request for it.
pub(super) fn pictures(result: &CallResult) -> Vec<Picture<'_>> {
    let items = result.result.content_items.iter().enumerate();
    items
        .filter_map(|(index, item)| {
            let (mime_type, data) = item.image_base64()?;
            let reference = media_reference(result.call_id.as_str(), index + 1);
            let is_known = KNOWN.contains(&mime_type) && is_base64(data);
            is_known.then_some(Picture { reference, mime_type, data })
        })
        .collect()
}

fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    !digits.is_empty() && data.len().is_multiple_of(4) && data.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
}

// === impl Picture ===

impl Picture<'_> {
    pub(super) fn data_uri(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }
}

// === impl MediaMode ===

impl MediaMode {
    /// The pictures as messages of their own, for vendors that take none inside a result.
    pub(super) fn groups<'a>(
        self,
        pictures: impl Iterator<Item = Picture<'a>>,
    ) -> impl Iterator<Item = Vec<Picture<'a>>> {
        let pictures: Vec<Picture<'a>> = match self {
            Self::None => Vec::new(),
            Self::Together | Self::Each => pictures.collect(),
        };
        let groups: Vec<Vec<Picture<'a>>> = match self {
            Self::Each => pictures.into_iter().map(|picture| vec![picture]).collect(),
            Self::Together | Self::None if pictures.is_empty() => Vec::new(),
            Self::Together | Self::None => vec![pictures],
        };
        groups.into_iter()
    }

    /// The pictures that stand inside a result itself.
    pub(super) fn inside(self, result: &CallResult) -> Vec<Picture<'_>> {
        match self {
            Self::Together => pictures(result),
            Self::Each | Self::None => Vec::new(),
        }
    }

    /// The pictures that stand after all results, for vendors that take them inside.
    pub(super) fn after(self, results: &[CallResult]) -> impl Iterator<Item = Picture<'_>> {
        let results = if self == Self::Each { results } else { &[] };
        results.iter().flat_map(pictures)
    }
}

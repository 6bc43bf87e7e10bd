//! `data:` URIs whose bytes are base64.

use std::borrow::Cow;

use super::base64;

/// Longest MIME type that is believed.
const MAX_MIME_BYTES: usize = 128;

/// A `data:` URI, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DataUri<'a> {
    pub(super) mime_type: &'a str,
    /// In standard form.
    pub(super) base64: Cow<'a, str>,
}

// === impl DataUri ===

impl<'a> DataUri<'a> {
    /// Reads text that is a `data:` URI from its first to its last character. Nothing when it is not, when its bytes are
    /// not base64, or when its MIME type cannot be one. White space inside makes it prose.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        if !text.get(..5)?.eq_ignore_ascii_case("data:") {
            return None;
        }
        let (head, data) = text.get(5..)?.split_once(',')?;
        let (parameters, encoding) = head.rsplit_once(';')?;
        if !encoding.trim().eq_ignore_ascii_case("base64") {
            return None;
        }
        let mime_type = match parameters.split(';').next().map(str::trim) {
            None | Some("") => "text/plain",
            Some(named) => named,
        };
        (is_mime_type(mime_type) && !data.contains(char::is_whitespace)).then_some(())?;
        Some(Self { mime_type, base64: base64::standard(data)? })
    }
}

/// Whether `text` could be a MIME type; whatever else stands there does not go into a text for the model.
pub(super) fn is_mime_type(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    text.len() <= MAX_MIME_BYTES && text.split_once('/').is_some_and(|(kind, form)| is_part(kind) && is_part(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_found() {
        for (uri, mime_type, data) in [
            ("data:image/png;base64,AAAA", "image/png", "AAAA"),
            ("DATA:image/svg+xml;charset=utf-8;BASE64,AA", "image/svg+xml", "AA=="),
            ("data:;base64,AAAA", "text/plain", "AAAA"),
        ] {
            let parsed = DataUri::parse(uri).unwrap();
            assert_eq!((parsed.mime_type, &*parsed.base64), (mime_type, data), "{uri}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            "",
            "data",
            "数据数据",
            "data:",
            "data:,hello",
            "data:text/plain,hello",
            "data:image/png;base64,",
            "data:image/png;base64,see below",
            "data:image/png;base64,AAAA\nhere",
            "data:\"x\";base64,AAAA",
            "see data:image/png;base64,AAAA here",
            "https://x/a.png",
        ] {
            assert_eq!(DataUri::parse(text), None, "{text}");
        }
    }
}

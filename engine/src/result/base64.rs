//! Base64 as it comes in results, brought to the one form that every vendor takes.

use std::borrow::Cow;

/// The same bytes in the standard alphabet, padded, without white space. Nothing when `text` is empty or not base64.
///
/// Line breaks, the URL alphabet and missing padding are common and harmless here; a vendor would refuse the whole
/// request for them.
pub(super) fn standard(text: &str) -> Option<Cow<'_, str>> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let body = text.trim_end_matches('=');
    if body.is_empty() {
        return None;
    }
    if text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.as_bytes().iter().all(is_plain) {
        return Some(Cow::Borrowed(text));
    }
    mended(text).map(Cow::Owned)
}

/// How many bytes `base64` stands for.
pub(super) fn decoded_len(base64: &str) -> usize {
    let digits = base64.trim_end_matches('=').len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

fn mended(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len() + 2);
    let mut padding = 0;
    for character in text.chars().filter(|character| !character.is_ascii_whitespace()) {
        match character {
            '=' => padding += 1,
            _ if padding > 0 => return None,
            '-' => mended.push('+'),
            '_' => mended.push('/'),
            '+' | '/' | 'a'..='z' | 'A'..='Z' | '0'..='9' => mended.push(character),
            _ => return None,
        }
    }
    if mended.is_empty() || padding > 2 || mended.len() % 4 == 1 {
        return None;
    }
    while !mended.len().is_multiple_of(4) {
        mended.push('=');
    }
    Some(mended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_form_becomes_the_standard_one() {
        for (given, expected) in [
            ("AAAA", Some("AAAA")),
            ("AA==", Some("AA==")),
            ("AA", Some("AA==")),
            ("iVBORw0K\r\nGgo=\n", Some("iVBORw0KGgo=")),
            ("_-A", Some("/+A=")),
            ("", None),
            ("==", None),
            ("A", None),
            ("AAAAA", None),
            ("AA==AA", None),
            ("AAA===", None),
            ("not base64!", None),
            ("图", None),
        ] {
            assert_eq!(standard(given).as_deref(), expected, "{given:?}");
        }
    }

    #[test]
    fn the_number_of_bytes_is_told_from_the_text() {
        for (base64, bytes) in [("AAAA", 3), ("AAA=", 2), ("AA==", 1), ("iVBORw0KGgo=", 8), ("", 0)] {
            assert_eq!(decoded_len(base64), bytes, "{base64}");
        }
    }
}

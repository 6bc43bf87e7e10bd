//! Reading a JSON string whatever its escapes say.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// Decodes a JSON string; half of a surrogate pair, which is no character, becomes `U+FFFD`. Nothing when `json` is no
/// string.
pub(crate) fn string(json: &str) -> Option<String> {
    if let Ok(text) = serde_json::from_str(json) {
        return Some(text);
    }
    Lossy.deserialize(&mut serde_json::Deserializer::from_str(json)).ok()
}

struct Lossy;

// === impl Lossy ===

impl<'de> DeserializeSeed<'de> for Lossy {
    type Value = String;

    /// Asked for bytes, the parser lets half pairs through.
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Lossy {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_costs_one_character_and_not_the_text() {
        assert_eq!(string(r#""a\ud83db""#).unwrap().replace('\u{fffd}', ""), "ab");
        assert_eq!(string(r#""\ud83d\ude00\n""#).as_deref(), Some("😀\n"));
    }

    #[test]
    fn what_is_no_string_is_none() {
        for json in ["1", "null", "{}", "[1]", "\"open", ""] {
            assert_eq!(string(json), None, "{json}");
        }
    }
}

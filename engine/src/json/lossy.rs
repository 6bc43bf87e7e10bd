//! Reading JSON strings whatever their escapes say.

use std::borrow::Cow;

use super::plain::plain;

/// The length of `\uXXXX`.
const ESCAPE: usize = 6;

/// What stands in the place of half of a surrogate pair, which is no character.
type Half = fn(&str) -> &str;

/// Decodes a JSON string; half of a surrogate pair becomes `U+FFFD`. Nothing when `json` is no string.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    decoded(json, |_| "\u{fffd}")
}

/// Decodes a JSON string that holds JSON text; half of a surrogate pair stays the escape that it is, for whoever reads
/// the text to find. Nothing when `json` is no string.
pub(crate) fn text(json: &str) -> Option<Cow<'_, str>> {
    decoded(json, |escape| escape)
}

/// JSON with whole characters only, as every parser takes it: half of a surrogate pair becomes `U+FFFD`, and nothing else
/// changes.
pub(crate) fn whole(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u") {
        return Cow::Borrowed(json);
    }
    let mut replaced = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match (unit(json, escape), unit(json, escape + ESCAPE)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => escape + 2 * ESCAPE,
            (Some(0xd800..0xe000), _) => {
                replaced.push_str(json.get(copied..escape).unwrap_or_default());
                replaced.push_str("\\ufffd");
                copied = escape + ESCAPE;
                copied
            }
            (Some(_), _) => escape + ESCAPE,
            (None, _) => escape + 2,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    replaced.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(replaced)
}

/// Borrows where there is no escape, and copies run by run where there are some.
fn decoded(json: &str, half: Half) -> Option<Cow<'_, str>> {
    let json = json.trim_matches([' ', '\n', '\r', '\t']);
    let mut rest = json.strip_prefix('"')?.strip_suffix('"')?;
    if plain(rest.as_bytes()) == rest.len() {
        return Some(Cow::Borrowed(rest));
    }
    let mut text = String::with_capacity(rest.len());
    loop {
        let (run, special) = rest.split_at_checked(plain(rest.as_bytes()))?;
        text.push_str(run);
        if special.is_empty() {
            return Some(Cow::Owned(text));
        }
        rest = push_escaped(&mut text, special, half)?;
    }
}

/// Appends what the escape at the start of `rest` stands for, and gives what follows it.
fn push_escaped<'a>(text: &mut String, rest: &'a str, half: Half) -> Option<&'a str> {
    let character = match rest.as_bytes() {
        [b'\\', b'u', ..] => return push_unit(text, rest, half),
        [b'\\', plain @ (b'"' | b'\\' | b'/'), ..] => char::from(*plain),
        [b'\\', b'n', ..] => '\n',
        [b'\\', b't', ..] => '\t',
        [b'\\', b'r', ..] => '\r',
        [b'\\', b'b', ..] => '\u{8}',
        [b'\\', b'f', ..] => '\u{c}',
        _ => return None,
    };
    text.push(character);
    rest.get(2..)
}

fn push_unit<'a>(text: &mut String, rest: &'a str, half: Half) -> Option<&'a str> {
    let first = unit(rest, 0)?;
    let pair = char::decode_utf16([first].into_iter().chain(unit(rest, ESCAPE))).next()?;
    match pair {
        Ok(character) => text.push(character),
        Err(_) => text.push_str(half(rest.get(..ESCAPE)?)),
    }
    rest.get(pair.map_or(1, char::len_utf16) * ESCAPE..)
}

/// The UTF-16 unit of a `\uXXXX` at `at`.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    // Rust would also read a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A part of a JSON string, right or wrong.
    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "a",
            "plain text of some length",
            "图😀\u{7f}",
            "\\n",
            "\\\"",
            "\\\\ ",
            "\\/",
            "\\b\\f\\r\\t",
            "\\u00e9",
            "\\u0000",
            "\\uFFFF",
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\ude00",
            "\"",
            "\n",
            "\\x",
            "\\u12",
            "\\u+123",
        ])
    }

    #[test]
    fn half_a_pair_costs_one_character_and_not_the_text() {
        assert_eq!(string(r#""a\ud83db""#).as_deref(), Some("a\u{fffd}b"));
        assert_eq!(string(r#""\ud83d\ude00\n""#).as_deref(), Some("😀\n"));
    }

    #[test]
    fn json_is_made_whole_and_nothing_else_changes() {
        for (json, made) in [
            (r#"{"a":"x\ud83d","b":["\udc00\ud83d"]}"#, r#"{"a":"x\ufffd","b":["\ufffd\ufffd"]}"#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\ud83d\n\u00e9\"é""#, r#""\ufffd\n\u00e9\"é""#),
        ] {
            assert_eq!(whole(json), made);
            assert!(serde_json::from_str::<serde_json::Value>(made).is_ok());
        }
        let fine = r#"{"a":"\ud83d\ude00 \\ud83d","n":1.10}"#;
        assert!(matches!(whole(fine), Cow::Borrowed(same) if same == fine));
    }

    #[test]
    fn json_text_keeps_the_escape_of_half_a_character() {
        assert_eq!(text(r#""{\"a\":\"\ud83d\"}""#).as_deref(), Some(r#"{"a":"\ud83d"}"#));
        assert_eq!(text(r#""\ud83d\ude00""#).as_deref(), Some("😀"));
        assert_eq!(text("7"), None);
    }

    #[test]
    fn what_is_no_string_is_none() {
        for json in [
            "1",
            "null",
            "{}",
            "[1]",
            "\"open",
            "",
            "\"",
            "\"a\"b\"",
            "\"\n\"",
            "\"\\",
            "\"\\\"",
            "\"\\u12\"",
            "\"\\u+123\"",
        ] {
            assert_eq!(string(json), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn strings_are_read_as_by_serde_and_halves_as_if_they_were_replaced_before(
            pieces in prop::collection::vec(piece(), 0..12),
            cut in prop::option::weighted(0.1, 0..40_usize),
        ) {
            let json = format!("\"{}\"", pieces.concat());
            let json: String = json.chars().take(cut.unwrap_or(usize::MAX)).collect();
            let spelt = json.replace("\\ud83d\\ude00", "😀").replace("\\ud83d", "\\\\ud83d").replace("\\ude00", "\\\\ude00");
            prop_assert_eq!(string(&json), serde_json::from_str(&whole(&json)).ok().map(Cow::Owned), "{}", json);
            prop_assert_eq!(text(&json), serde_json::from_str(&spelt).ok().map(Cow::Owned), "{}", json);
        }
    }
}

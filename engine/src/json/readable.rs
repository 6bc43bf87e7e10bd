//! Whether others can read a JSON text. Ours may be read as text whatever stands in it; most parsers build values.

use serde_json::{Map, Value};

use super::plain::plain;

/// Levels of lists and objects. `serde_json` and others give up at 128, and what is checked here stands inside of
/// documents with a few levels of their own.
const MAX_LEVELS: usize = 100;

/// Digits that every `f64` has room for.
const CERTAINLY_FIT: usize = 300;

/// Why most parsers would refuse a valid JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Lists and objects inside of one another.
    #[error("is nested deeper than {MAX_LEVELS} levels")]
    TooDeep,
    /// A number such as `1e999`, or an integer of more than 308 digits.
    #[error("holds a number that is too large for most readers of JSON")]
    NumberTooLarge,
}

/// Looks at valid JSON once, from its start to its end or to the first fault.
pub(super) fn check(json: &str) -> Result<(), Unreadable> {
    let (mut at, mut levels) = (0, 0_usize);
    while let Some(&byte) = json.as_bytes().get(at) {
        match byte {
            b'"' => {
                at = end_of_string(json, at + 1);
                continue;
            }
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(json, at);
                if !is_held_by_f64(json.get(at..end).unwrap_or_default()) {
                    return Err(Unreadable::NumberTooLarge);
                }
                at = end;
                continue;
            }
            b'[' | b'{' if levels == MAX_LEVELS => return Err(Unreadable::TooDeep),
            b'[' | b'{' => levels += 1,
            b']' | b'}' => levels = levels.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// The same for values; every number in them is one that an `f64` or 64 bits hold.
pub(crate) fn check_members(members: &Map<String, Value>) -> Result<(), Unreadable> {
    if members.values().any(|value| is_deeper_than(value, MAX_LEVELS - 1)) { Err(Unreadable::TooDeep) } else { Ok(()) }
}

/// Goes down no deeper than it must.
fn is_deeper_than(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| is_deeper_than(item, left - 1)),
        Value::Object(members) => left == 0 || members.values().any(|value| is_deeper_than(value, left - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The place after the string whose text begins at `start`, just behind its quote.
pub(crate) fn end_of_string(json: &str, start: usize) -> usize {
    let bytes = json.as_bytes();
    let mut at = start;
    while let Some(rest) = bytes.get(at..) {
        at += plain(rest);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => break,
        }
    }
    json.len()
}

fn end_of_number(json: &str, start: usize) -> usize {
    let rest = json.as_bytes().get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count()
}

/// Such parsers read what is no 64-bit integer as an `f64`.
fn is_held_by_f64(number: &str) -> bool {
    let is_plain = number.len() <= CERTAINLY_FIT && !number.contains(['e', 'E']);
    is_plain || serde_json::from_str::<f64>(number).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn what_is_too_deep_is_refused_and_brackets_in_text_are_no_levels() {
        assert_eq!(check(&nested(MAX_LEVELS)), Ok(()));
        assert_eq!(check(&nested(MAX_LEVELS + 1)), Err(Unreadable::TooDeep));
        assert_eq!(check(&nested(1_000_000)), Err(Unreadable::TooDeep));
        assert_eq!(check(&format!("[{}1]", "[],{},".repeat(1000))), Ok(()), "side by side is not deep");
        let text = "[".repeat(1000);
        for json in [
            format!(r#"{{"{text}":["{text}"]}}"#),
            format!(r#"["\"{text}"]"#),
            format!(r#"["字\\","{text}\\\"{text}"]"#),
        ] {
            assert!(serde_json::from_str::<Value>(&json).is_ok());
            assert_eq!(check(&json), Ok(()), "{json}");
        }
        assert_eq!(check(&format!(r#"["\\",{}]"#, nested(MAX_LEVELS))), Err(Unreadable::TooDeep));
    }

    #[test]
    fn numbers_that_no_parser_can_hold_are_refused_and_long_ones_are_not() {
        let digits = |n| "9".repeat(n);
        for json in ["1e308", "-1.5E+3", "0e999", "1e-999", &digits(27), &digits(308), &format!("[-{}]", digits(308))] {
            assert_eq!(check(json), Ok(()), "{json}");
        }
        for json in ["1e309", "[-1e999]", r#"{"a":1E+400}"#, &digits(310), &format!("{}.5", digits(5000))] {
            assert_eq!(check(json), Err(Unreadable::NumberTooLarge), "{json}");
        }
        assert_eq!(check(r#"["1e999"]"#), Ok(()), "in text it is text");
    }

    #[test]
    fn values_have_the_same_limit() {
        let members = |levels: usize| {
            let value = (1..levels).fold(Value::Null, |value, _| Value::Array(vec![value]));
            Map::from_iter([("a".to_owned(), value)])
        };
        assert_eq!(check_members(&members(MAX_LEVELS)), Ok(()));
        assert_eq!(check_members(&members(MAX_LEVELS + 1)), Err(Unreadable::TooDeep));
    }

    /// JSON with strings, escapes, brackets and numbers of all kinds.
    fn any_json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            "[\"\\\\\\[{}\\]字1e,:]{0,8}".prop_map(|text| Value::from(text).to_string()),
            "-?[1-9][0-9]{0,2}(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,4})?",
        ];
        let json = leaf.prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
                inner.prop_map(|value| format!("{{\"[1e999\\\"\": {value}}}")),
            ]
        });
        (json, 0..140_usize).prop_map(|(json, levels)| format!("{}{json}{}", "[".repeat(levels), "]".repeat(levels)))
    }

    proptest! {
        #[test]
        fn what_passes_is_read_by_a_usual_parser_in_a_document(json in any_json()) {
            let document = format!(r#"{{"results":[{{"structured_content":{json}}}]}}"#);
            if check(&json).is_ok() {
                prop_assert!(serde_json::from_str::<Value>(&document).is_ok(), "{}", document);
            }
        }

        #[test]
        fn what_a_usual_parser_refuses_is_refused(json in any_json()) {
            if serde_json::from_str::<Value>(&json).is_err() {
                prop_assert!(check(&json).is_err(), "{}", json);
            }
        }
    }
}

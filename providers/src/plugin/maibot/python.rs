//! What Python makes of a JSON value: whether it counts as true, and its text.

use serde_json::Value;
use toolyard::JsonText;

/// `bool(x)` of what the JSON text stands for; the text `"false"` is true.
pub(super) fn is_truthy(json: &str) -> bool {
    match json.as_bytes() {
        [b'n' | b'f', ..] | [b'"', b'"'] => false,
        [open @ (b'[' | b'{'), inside @ .., close @ (b']' | b'}')] => {
            (*open, *close) != (b'[', b']') && (*open, *close) != (b'{', b'}') || !inside.trim_ascii().is_empty()
        }
        [b'0'..=b'9' | b'-', ..] => json.parse::<f64>() != Ok(0.0),
        _ => true,
    }
}

/// The same of a parsed value; nothing is as good as `None`.
pub(super) fn is_true(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(truth)) => *truth,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
    }
}

/// The text that a field holds: nothing for `null`, Python's words for a boolean, and the JSON of everything that is no
/// text, which a model reads better than Python's print of it.
pub(super) fn text_of(json: &JsonText) -> String {
    match json.as_str() {
        "null" => String::new(),
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        other => json.text().unwrap_or_else(|| other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn truth_is_pythons() {
        for (json, truth) in [
            ("null", false),
            ("false", false),
            ("true", true),
            (r#""""#, false),
            (r#""false""#, true),
            (r#"" ""#, true),
            ("0", false),
            ("-0.0", false),
            ("0e5", false),
            ("0.1", true),
            ("-1", true),
            ("123456789012345678901234567890", true),
            ("[]", false),
            ("[ ]", false),
            ("[0]", true),
            ("{}", false),
            (r#"{"a":null}"#, true),
        ] {
            assert_eq!(is_truthy(json), truth, "{json}");
            assert_eq!(is_true(Some(&serde_json::from_str(json).unwrap())), truth, "{json}");
        }
        assert!(!is_true(None));
    }

    #[test]
    fn texts_of_fields() {
        for (value, text) in [
            (json!("a\n\"b\""), "a\n\"b\""),
            (json!(null), ""),
            (json!(true), "True"),
            (json!(7), "7"),
            (json!({"a": [1]}), r#"{"a":[1]}"#),
        ] {
            assert_eq!(text_of(&JsonText::from(value)), text);
        }
    }
}

//! The one text of all JSON texts that mean the same, as far as a cache has to know.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::json::{JsonText, lossy};

/// The text with sorted keys, without white space, its strings written in one way. Numbers keep their digits: one that is
/// written otherwise only misses the cache, while large ones never become equal.
///
/// Depth is bounded by the limit on arguments.
pub(crate) fn canonical(json: &JsonText) -> String {
    let mut text = String::with_capacity(json.as_str().len());
    write(json.as_str(), &mut text);
    text
}

fn write(json: &str, text: &mut String) {
    let json = json.trim_ascii();
    match json.as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
            Ok(members) => {
                text.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push_str(JsonText::string(key).as_str());
                    text.push(':');
                    write(value.get(), text);
                }
                text.push('}');
            }
            Err(_) => text.push_str(json),
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(json) {
            Ok(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    write(item.get(), text);
                }
                text.push(']');
            }
            Err(_) => text.push_str(json),
        },
        Some(b'"') => match lossy::string(json) {
            Some(string) => text.push_str(JsonText::string(&string).as_str()),
            None => text.push_str(json),
        },
        _ => text.push_str(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_space_and_escapes_do_not_matter_and_digits_do() {
        let canonical = |text: &str| canonical(&JsonText::parse(text).unwrap());
        let same = [
            r#"{"b":[1,{"d":"A","c":null}],"a":true}"#,
            "{ \"a\" : true,\n\"b\": [1, {\"c\":null, \"d\":\"\\u0041\"}] }",
        ];
        assert_eq!(canonical(same[0]), canonical(same[1]));
        assert_eq!(canonical(same[0]), r#"{"a":true,"b":[1,{"c":null,"d":"A"}]}"#);
        let large = [r#"{"n":653247040368672768123456789}"#, r#"{"n":653247040368672768123456790}"#];
        assert_ne!(canonical(large[0]), canonical(large[1]));
        assert_ne!(canonical(r#"{"a":[1,2]}"#), canonical(r#"{"a":[2,1]}"#));
    }
}

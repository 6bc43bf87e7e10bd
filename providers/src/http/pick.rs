//! Pick: which parts of a JSON answer become the result, and under which names.
//!
//! Works on the text, part by part, so that what is picked keeps its digits.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use toolyard::JsonText;

/// A place in JSON (RFC 6901).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pointer(Vec<String>);

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// What stands at a place.
    At(Pointer),
    /// An object of parts; those that are not there are left out.
    Fields(Vec<(String, Pick)>),
    /// The same part of each item of a list.
    Each { list: Pointer, item: Box<Pick> },
}

// === impl Pointer ===

impl Pointer {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if !(text.is_empty() || text.starts_with('/')) {
            return Err(format!("`{text}` is no JSON pointer: one begins with `/`, such as `/data/0/name`"));
        }
        Ok(Self(text.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The JSON text at the place, if there is any.
    pub(super) fn find<'j>(&self, json: &'j str) -> Option<&'j str> {
        self.0.iter().try_fold(json.trim(), |json, key| match json.as_bytes().first() {
            Some(b'{') => {
                let members: IndexMap<String, &RawValue> = serde_json::from_str(json).ok()?;
                members.get(key).map(|raw| raw.get())
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
                items.get(key.parse::<usize>().ok()?).map(|raw| raw.get())
            }
            _ => None,
        })
    }
}

// === impl Pick ===

impl Pick {
    /// The part of this JSON; nothing where none of it is there.
    pub(super) fn take(&self, json: &str) -> Option<JsonText> {
        match self {
            Self::At(pointer) => JsonText::parse(pointer.find(json)?).ok(),
            Self::Fields(fields) => {
                let found = fields.iter().filter_map(|(name, pick)| Some((name.as_str(), pick.take(json)?)));
                let found: Vec<(&str, JsonText)> = found.collect();
                (!found.is_empty()).then(|| JsonText::object(found))
            }
            Self::Each { list, item } => {
                let items: Vec<&RawValue> = serde_json::from_str(list.find(json)?).ok()?;
                let picked = items.iter().map(|raw| item.take(raw.get()).unwrap_or_else(JsonText::null));
                Some(JsonText::array(picked))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"data": {"time": "12:00", "a/b": 123456789012345678901234567890, "list": [{"n": "学一", "c": 1.50}, {"n": "学五"}]}}"#;

    fn at(pointer: &str) -> Pick {
        Pick::At(Pointer::parse(pointer).unwrap())
    }

    #[test]
    fn fields_are_renamed_and_keep_their_digits() {
        let item = Pick::Fields(vec![("name".to_owned(), at("/n")), ("people".to_owned(), at("/c"))]);
        let pick = Pick::Fields(vec![
            ("when".to_owned(), at("/data/time")),
            ("id".to_owned(), at("/data/a~1b")),
            ("gone".to_owned(), at("/data/none")),
            ("canteens".to_owned(), Pick::Each { list: Pointer::parse("/data/list").unwrap(), item: Box::new(item) }),
        ]);
        let expected = r#"{"when":"12:00","id":123456789012345678901234567890,"canteens":[{"name":"学一","people":1.50},{"name":"学五"}]}"#;
        assert_eq!(pick.take(ANSWER).unwrap().as_str(), expected);
        assert_eq!(at("/data/list/1/n").take(ANSWER).unwrap().as_str(), "\"学五\"");
        assert_eq!(at("").take("7").unwrap().as_str(), "7");
    }

    #[test]
    fn what_is_not_there_is_nothing() {
        for pointer in ["/x", "/data/list/2", "/data/list/n", "/data/time/x"] {
            assert_eq!(at(pointer).take(ANSWER), None, "{pointer}");
        }
        assert!(Pointer::parse("data").is_err());
    }
}

//! JSON read one level at a time, each value as it stands in the document.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of one object, in order. What is no object has none.
pub(super) struct Members<'a> {
    object: &'a str,
    members: Vec<(String, &'a str)>,
}

/// A member of an object, there or not, that can be read and set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The whole object.
    pub(super) object: &'a str,
    /// The member's key.
    pub(super) key: &'static str,
    /// Its value as it stands, `null` too; nothing when there is no such member.
    pub(super) value: Option<&'a str>,
}

/// A value that should be a string.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The string; what is no readable string, as it is written.
    pub(super) value: String,
    /// Whether it is a string.
    pub(super) is_string: bool,
}

struct MembersVisitor;

/// The items of an array, or nothing when it is none.
pub(super) fn items(raw: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

pub(super) fn is_object(raw: &str) -> bool {
    raw.starts_with('{')
}

pub(super) fn is_empty_object(raw: &str) -> bool {
    raw.strip_prefix('{').is_some_and(|rest| rest.trim_start() == "}")
}

/// Reads a string. A lone surrogate makes it unreadable, not an error.
pub(super) fn text(raw: &str) -> Text {
    match serde_json::from_str(raw) {
        Ok(value) => Text { value, is_string: true },
        Err(_) => Text { value: raw.trim_matches('"').to_owned(), is_string: false },
    }
}

// === impl Members ===

impl<'a> Members<'a> {
    pub(super) fn of(object: &'a str) -> Self {
        let members = serde_json::Deserializer::from_str(object).deserialize_map(MembersVisitor).unwrap_or_default();
        Self { object, members }
    }

    /// The value at `key`, unless it is `null`. Of a repeated key the last counts, as for most readers.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.find(key).filter(|raw| *raw != "null")
    }

    pub(super) fn place(&self, key: &'static str) -> Place<'a> {
        Place { object: self.object, key, value: self.find(key) }
    }

    /// Whether the string `value` stands at `key`.
    pub(super) fn says(&self, key: &str, value: &str) -> bool {
        self.get(key).is_some_and(|raw| text(raw).value == value)
    }

    fn find(&self, key: &str) -> Option<&'a str> {
        self.members.iter().rev().find(|(name, _)| name == key).map(|(_, raw)| *raw)
    }
}

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, raw)) = access.next_entry::<String, &'de RawValue>()? {
            members.push((key, raw.get()));
        }
        Ok(members)
    }
}

// === impl Place ===

impl<'a> Place<'a> {
    /// The value, unless it is `null`.
    pub(super) fn get(&self) -> Option<&'a str> {
        self.value.filter(|raw| *raw != "null")
    }

    /// The text here, unless it is blank.
    pub(super) fn filled(&self) -> Option<Text> {
        self.get().map(text).filter(|text| !text.value.trim().is_empty())
    }
}

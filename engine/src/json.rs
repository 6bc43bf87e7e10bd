//! JSON text that is known to be valid, shared without copying.
//!
//! Owns [`JsonText`]. The text is the truth: integers keep all their digits and keys their order, because nothing is
//! re-printed between the model, the tool and the history.

pub(crate) mod finite;
pub(crate) mod lossy;
pub(crate) mod outline;
mod plain;
pub(crate) mod readable;
pub(crate) mod write;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use outline::Outline;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

pub use readable::Unreadable;
use write::{ListWriter, push_string};

/// The name by which `serde_json` knows text that it prints as it stands.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// One valid JSON value as text. Cloning shares the text.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Arc<str>);

// === impl JsonText ===

impl JsonText {
    /// Checks that `text` is one JSON value and keeps it as it is, without the white space around it.
    ///
    /// # Errors
    /// Gives serde's error with line and column when `text` is not JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self(raw.get().into()))
    }

    /// Prints any serialisable value.
    ///
    /// # Errors
    /// Fails when the value has no JSON form, such as a map whose keys are not text, or NaN and infinite numbers, which a
    /// plain printer would turn into `null`.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        finite::check(value).map_err(serde::ser::Error::custom)?;
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether usual parsers can read the text inside a document: at most 100 levels, and no number that an `f64` cannot
    /// hold. Integers of more than 64 bits may pass. One look over the text; nothing is parsed.
    ///
    /// # Errors
    /// Says what such a parser would stumble over.
    pub fn check_readable(&self) -> Result<(), Unreadable> {
        readable::check(&self.0)
    }

    /// The same with whole characters only, as every parser takes it: the escape of half of a surrogate pair becomes that
    /// of `U+FFFD`, and nothing else changes.
    #[must_use]
    pub fn with_whole_characters(self) -> Self {
        match lossy::whole(&self.0) {
            Cow::Owned(whole) => Self(whole.into()),
            Cow::Borrowed(_) => self,
        }
    }

    /// Reads the text into a Rust type.
    ///
    /// # Errors
    /// Gives serde's error when the value does not fit the type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The JSON text of a string.
    pub fn string(text: &str) -> Self {
        let mut json = String::with_capacity(text.len() + 2);
        push_string(&mut json, text);
        Self(json.into())
    }

    /// `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The JSON text of a boolean.
    pub fn boolean(value: bool) -> Self {
        Self(value.to_string().into())
    }

    /// The text, when the value is a string; half of a surrogate pair, which is no character, becomes `U+FFFD`.
    pub fn text(&self) -> Option<String> {
        lossy::string(&self.0).map(Cow::into_owned)
    }

    /// The members of an object, in their order; nothing where it is none.
    pub fn members(&self) -> Option<Vec<(String, Self)>> {
        let outline = Outline::of(&self.0);
        let members = outline.root().is_object().then(|| outline.root().members_but(&[]))?;
        Some(members.into_iter().map(|(key, value)| (key.into_owned(), Self(value.raw().into()))).collect())
    }

    /// The member of an object under this key.
    pub fn member(&self, key: &str) -> Option<Self> {
        Outline::of(&self.0).root().get(key).map(|value| Self(value.raw().into()))
    }

    /// An object with these members, in this order.
    pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let mut text = String::from("{");
        for (index, (key, value)) in members.into_iter().enumerate() {
            text.push_str(if index == 0 { "" } else { "," });
            push_string(&mut text, key);
            text.push(':');
            text.push_str(value.as_str());
        }
        text.push('}');
        Self(text.into())
    }

    /// An array of these items.
    pub fn array(items: impl IntoIterator<Item = Self>) -> Self {
        let mut text = String::new();
        ListWriter::write(&mut text, |list| items.into_iter().for_each(|item| list.json(&item)));
        Self(text.into())
    }

    /// For text that a parser has already accepted.
    pub(crate) fn trusted(text: Arc<str>) -> Self {
        Self(text)
    }
}

impl From<JsonText> for Arc<str> {
    fn from(json: JsonText) -> Self {
        json.0
    }
}

impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<Value> for JsonText {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&RawValue> for JsonText {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

impl From<Box<RawValue>> for JsonText {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.get().into())
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // What `RawValue` does. Making one would parse the text again, which costs many times what printing it does.
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, &*self.0)?;
        raw.end()
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer).map_err(D::Error::custom)?;
        Ok(Self::from(raw))
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of value it is, for people.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The same with its article, for sentences.
pub(crate) const fn a_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The JSON pointer (RFC 6901) to the place at which these keys lead.
pub(crate) fn pointer<S: AsRef<str>>(keys: &[S]) -> String {
    keys.iter().fold(String::new(), |path, key| pointer_to(&path, key.as_ref()))
}

/// The keys of a JSON pointer.
pub(crate) fn keys(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
}

/// The JSON pointer to `key` in the object at `path`.
pub(crate) fn pointer_to(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_key_order_survive_a_round_trip() {
        let text = r#"{"z":653247040368672768123456789,"a":1.10}"#;
        let json = JsonText::parse(text).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
        assert_eq!(serde_json::from_str::<JsonText>(text).unwrap(), json);
    }

    #[test]
    fn text_is_printed_as_it_stands_inside_of_a_document_and_read_as_a_value() {
        let json = JsonText::parse(r#"{"n": 1.10, "a": [ "\u00e9" ]}"#).unwrap();
        assert_eq!(serde_json::to_string(&[&json]).unwrap(), r#"[{"n": 1.10, "a": [ "\u00e9" ]}]"#);
        assert_eq!(serde_json::to_vec_pretty(&json).unwrap(), json.as_str().as_bytes());
        assert_eq!(serde_json::to_value([&json]).unwrap(), serde_json::json!([{"n": 1.1, "a": ["é"]}]));
    }

    #[test]
    fn members_are_told_by_key_and_of_a_repeated_one_the_last_counts() {
        let json = JsonText::parse(r#"{ "a" : {"b":1} , "\u0062":[2 , {"a":3}],"a":1e400 ,"c": "x\"}" }"#).unwrap();
        let members = json.members().unwrap();
        let members: Vec<(&str, &str)> = members.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(members, [("a", "1e400"), ("b", r#"[2 , {"a":3}]"#), ("c", r#""x\"}""#)]);
        assert_eq!(json.member("b").unwrap().as_str(), r#"[2 , {"a":3}]"#);
        assert_eq!((json.member("d"), JsonText::null().members()), (None, None));
    }

    #[test]
    fn objects_and_arrays_are_built_of_texts() {
        let big = JsonText::parse("653247040368672768123456789").unwrap();
        let object = JsonText::object([("a\"b", JsonText::string("x\ny")), ("n", JsonText::array([big]))]);
        assert_eq!(object.as_str(), r#"{"a\"b":"x\ny","n":[653247040368672768123456789]}"#);
        assert_eq!(JsonText::object([]).as_str(), "{}");
    }

    #[test]
    fn numbers_without_a_json_form_are_refused_and_never_become_null() {
        assert!(JsonText::from_serialize(&[1.0, f64::NAN]).is_err());
        assert_eq!(JsonText::from_serialize(&[1.5, 2.0]).unwrap().as_str(), "[1.5,2.0]");
    }

    #[test]
    fn the_text_of_a_string_is_read_whatever_its_escapes_say() {
        assert_eq!(JsonText::parse(r#""a\n\ud83db""#).unwrap().text().as_deref(), Some("a\n\u{fffd}b"));
        assert_eq!(JsonText::parse("7").unwrap().text(), None);
    }

    #[test]
    fn text_that_is_not_json_is_refused() {
        assert!(JsonText::parse("{\"a\":NaN}").is_err());
        assert!(JsonText::parse("{} {}").is_err());
    }
}

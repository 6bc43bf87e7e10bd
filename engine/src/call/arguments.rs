//! Arguments: from the text that a model wrote to a checked JSON object.
//!
//! The text stays the truth and is what the tool gets. The parsed value beside it serves validation. Nothing ever falls
//! back to `{}`: only empty text, `null` and absence mean an object without keys.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::json::JsonText;
use crate::limits::Limits;
use crate::result::{CallError, ErrorCode, Repair, RepairKind};

/// Arguments as the model wrote them, not looked at yet.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum RawArguments {
    /// The call has none.
    #[default]
    Absent,
    /// Text that should be a JSON object.
    Text(Arc<str>),
    /// Text of a reply that was cut off before the call was complete.
    CutOff(Arc<str>),
}

/// How arguments are read. Neither profile loses anything or guesses: what it mends, it records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Only empty text, `null` and absence are mended, to `{}`.
    Strict,
    /// Also an object that was encoded twice is decoded, once.
    #[default]
    Lenient,
}

/// Arguments that are a JSON object. Cloning shares them.
#[derive(Clone)]
pub struct Arguments {
    text: JsonText,
    value: Arc<Value>,
}

// === impl RawArguments ===

impl RawArguments {
    /// Arguments as text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }
}

impl From<&Value> for RawArguments {
    fn from(value: &Value) -> Self {
        Self::Text(value.to_string().into())
    }
}

// === impl Profile ===

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        match name {
            "strict" => Ok(Self::Strict),
            "lenient" => Ok(Self::Lenient),
            other => Err(UnknownProfile(other.to_owned())),
        }
    }
}

/// There is no profile of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{0}`; the profiles are strict and lenient")]
pub struct UnknownProfile(String);

// === impl Arguments ===

impl Arguments {
    /// The JSON text, digit for digit as the model wrote it.
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// The same as shared JSON text.
    pub fn json(&self) -> &JsonText {
        &self.text
    }

    /// The parsed value. Integers beyond 64 bits are floats here: use [`Arguments::text`] where their digits matter.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Reads the text into a Rust type.
    ///
    /// # Errors
    /// Gives serde's error when the arguments do not fit the type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.text.to()
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

/// Reads what the model wrote.
///
/// # Errors
/// The error's code says what is wrong, its pointer where. Text that ends inside a value is `arguments.truncated`.
pub(crate) fn read_arguments(
    raw: &RawArguments,
    profile: Profile,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), CallError> {
    let text = match raw {
        RawArguments::Absent => "",
        RawArguments::Text(text) => text.trim_ascii(),
        RawArguments::CutOff(_) => return Err(truncated()),
    };
    if text.is_empty() || text == "null" {
        let empty = Arguments { text: JsonText::trusted("{}".into()), value: Arc::new(Value::Object(Map::new())) };
        return Ok((empty, vec![Repair::of_root(RepairKind::EmptyArguments)]));
    }
    if text.len() > limits.max_argument_bytes {
        return Err(too_large(text.len(), limits.max_argument_bytes));
    }
    let value = parse(text, limits.max_argument_depth)?;
    if let (Profile::Lenient, Value::String(inner)) = (profile, &value)
        && inner.trim_ascii_start().starts_with('{')
    {
        let decoded = parse(inner.trim_ascii(), limits.max_argument_depth)?;
        let text = JsonText::trusted(inner.trim_ascii().into());
        let arguments = Arguments { text, value: Arc::new(decoded) };
        return Ok((arguments, vec![Repair::of_root(RepairKind::DoubleEncodedRoot)]));
    }
    if !value.is_object() {
        return Err(CallError::new(
            ErrorCode::ArgumentsNotObject,
            format!("the arguments must be a JSON object, not {}", kind(&value)),
        ));
    }
    let shared = match raw {
        RawArguments::Text(whole) if whole.len() == text.len() => Arc::clone(whole),
        RawArguments::Absent | RawArguments::Text(_) | RawArguments::CutOff(_) => text.into(),
    };
    Ok((Arguments { text: JsonText::trusted(shared), value: Arc::new(value) }, Vec::new()))
}

fn parse(text: &str, max_depth: usize) -> Result<Value, CallError> {
    let mut fault = None;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = CheckedValue { depth_left: max_depth, fault: &mut fault };
    let parsed = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    parsed.map_err(|error| match fault {
        Some(Fault::TooDeep) => CallError::new(
            ErrorCode::ArgumentsTooDeep,
            format!("the arguments are nested deeper than {max_depth} levels"),
        ),
        Some(Fault::DuplicateKey(key)) => CallError::new(
            ErrorCode::ArgumentsDuplicateKey,
            format!("the arguments have the key `{key}` twice in one object"),
        ),
        None if error.is_eof() => truncated(),
        None => CallError::new(
            ErrorCode::ArgumentsSyntax,
            format!("the arguments are not valid JSON at line {}, column {}", error.line(), error.column()),
        ),
    })
}

fn truncated() -> CallError {
    CallError::new(
        ErrorCode::ArgumentsTruncated,
        "the arguments were cut off before their end, so the tool did not run; call it again with complete arguments",
    )
}

fn too_large(size: usize, limit: usize) -> CallError {
    CallError::new(
        ErrorCode::ArgumentsTooLarge,
        format!("the arguments have {size} bytes; at most {limit} are allowed"),
    )
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What serde's own `Value` would accept or report without saying so.
enum Fault {
    TooDeep,
    DuplicateKey(String),
}

/// Reads a `Value`, refusing duplicate keys and too much depth. The fault is kept aside because serde's errors carry
/// text only.
struct CheckedValue<'a> {
    depth_left: usize,
    fault: &'a mut Option<Fault>,
}

// === impl CheckedValue ===

impl CheckedValue<'_> {
    fn deeper<E: serde::de::Error>(&mut self) -> Result<usize, E> {
        self.depth_left.checked_sub(1).ok_or_else(|| {
            *self.fault = Some(Fault::TooDeep);
            E::custom("too deep")
        })
    }
}

impl<'de> DeserializeSeed<'de> for CheckedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CheckedValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Value, A::Error> {
        let depth_left = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(CheckedValue { depth_left, fault: &mut *self.fault })? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        let depth_left = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            match map.entry(key) {
                Entry::Occupied(known) => {
                    *self.fault = Some(Fault::DuplicateKey(known.key().clone()));
                    return Err(A::Error::custom("duplicate key"));
                }
                Entry::Vacant(vacant) => {
                    vacant.insert(access.next_value_seed(CheckedValue { depth_left, fault: &mut *self.fault })?);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests;

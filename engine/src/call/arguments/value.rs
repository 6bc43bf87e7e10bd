//! A JSON value, read with the checks that serde leaves out.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// Why text is no value that arguments may have.
#[derive(Debug)]
pub(super) enum ValueError {
    /// Nested deeper than allowed.
    TooDeep,
    /// An object has this key twice.
    DuplicateKey(String),
    /// The text ends inside the value.
    CutOff,
    /// It is not JSON.
    Syntax(serde_json::Error),
}

/// Reads the whole of `text`, which may be nested `max_depth` levels deep.
pub(super) fn parse(text: &str, max_depth: usize) -> Result<Value, ValueError> {
    let mut fault = None;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = CheckedValue { depth_left: max_depth, fault: &mut fault };
    let parsed = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    parsed.map_err(|error| match fault {
        Some(Fault::TooDeep) => ValueError::TooDeep,
        Some(Fault::DuplicateKey(key)) => ValueError::DuplicateKey(key),
        None if error.is_eof() => ValueError::CutOff,
        None => ValueError::Syntax(error),
    })
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

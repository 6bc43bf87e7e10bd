//! What is wrong with arguments, as errors that name the place.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::value::ValueError;
use crate::json::pointer;
use crate::result::{CallError, ErrorCode};
use crate::text::short;

/// Numbers that other languages print and JSON does not have.
const NOT_FINITE: [&str; 4] = ["-Infinity", "-NaN", "Infinity", "NaN"];

/// The arguments stop before their end.
pub(super) fn truncated() -> CallError {
    CallError::new(
        ErrorCode::ArgumentsTruncated,
        "the output limit cut the arguments off before their end, so the tool did not run; call it again with smaller, \
         complete arguments",
    )
}

pub(super) fn too_large(limit: usize) -> CallError {
    CallError::new(ErrorCode::ArgumentsTooLarge, format!("the arguments are larger than the limit of {limit} bytes"))
}

pub(super) fn not_object(kind: &str) -> CallError {
    CallError::new(ErrorCode::ArgumentsNotObject, format!("arguments must be an object, got {kind}"))
}

pub(super) fn more_than_one() -> CallError {
    CallError::new(
        ErrorCode::ArgumentsSyntax,
        "more than one JSON value stands in the arguments; give exactly one object",
    )
}

/// The error for text that is no value.
pub(super) fn unreadable(text: &str, max_depth: usize, error: ValueError) -> CallError {
    match error {
        ValueError::CutOff => truncated(),
        ValueError::TooDeep => CallError::new(
            ErrorCode::ArgumentsTooDeep,
            format!("the arguments are nested deeper than {max_depth} levels"),
        ),
        ValueError::DuplicateKey(key) => {
            let message = format!("duplicate key {}: an object in the arguments has it twice", short(&key));
            let place = pointer(&place(text, Some(&key)));
            CallError::new(ErrorCode::ArgumentsDuplicateKey, message).at(short(&place))
        }
        ValueError::Syntax(error) => syntax(text, &error),
    }
}

fn syntax(text: &str, error: &serde_json::Error) -> CallError {
    let place = pointer(&place(text, None));
    let place = short(&place);
    let (subject, is, has) = if place.is_empty() {
        ("the arguments".to_owned(), "are", "have")
    } else {
        (format!("`{place}`"), "is", "has")
    };
    let said = error.to_string();
    let message = if said.contains("surrogate") || said.contains("hex escape") {
        format!("{subject} {has} an escape for half a character (a lone surrogate); write the whole character")
    } else if let Some(number) = NOT_FINITE.into_iter().find(|number| stands_at(text, error, number)) {
        format!("{subject} {is} {number}, which is no JSON number; give a finite number or null")
    } else if said.contains("out of range") {
        format!("{subject} {is} a number that is out of range")
    } else {
        format!("the arguments are not valid JSON at line {}, column {}", error.line(), error.column())
    };
    CallError::new(ErrorCode::ArgumentsSyntax, message).at(place)
}

/// Whether `word` stands where the parser stopped: it stops at, or just after, the first letter that it cannot read.
fn stands_at(text: &str, error: &serde_json::Error, word: &str) -> bool {
    let line_start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let stop = line_start + error.column();
    (stop.saturating_sub(2)..=stop).any(|from| text.get(from..).is_some_and(|rest| rest.starts_with(word)))
}

/// The keys that lead to the first fault, found by reading the text again.
fn place(text: &str, duplicate: Option<&str>) -> Vec<String> {
    let mut path = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // It stops at the fault, with the path to it.
    Place { path: &mut path, duplicate }.deserialize(&mut deserializer).ok();
    path
}

struct Place<'a> {
    path: &'a mut Vec<String>,
    duplicate: Option<&'a str>,
}

// === impl Place ===

impl<'a> Place<'a> {
    fn inner(&mut self) -> Place<'_> {
        Place { path: &mut *self.path, duplicate: self.duplicate }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _value: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _value: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _value: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _value: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _value: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            self.path.push(index.to_string());
            if seq.next_element_seed(self.inner())?.is_none() {
                break;
            }
            self.path.pop();
        }
        self.path.pop();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        let mut seen = false;
        while let Some(key) = access.next_key::<String>()? {
            let is_wanted = self.duplicate == Some(key.as_str());
            self.path.push(key);
            if is_wanted && seen {
                return Err(serde::de::Error::custom("found"));
            }
            seen |= is_wanted;
            access.next_value_seed(self.inner())?;
            self.path.pop();
        }
        Ok(())
    }
}

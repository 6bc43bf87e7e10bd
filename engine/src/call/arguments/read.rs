//! The ladder: from what stands for the arguments in a reply to a JSON object, each step recorded.
//!
//! 1. Nothing at all is `{}`.
//! 2. The size is checked before anything is decoded.
//! 3. The text is read as it is.
//! 4. Lenient only: it is mended ([`mend`]), then text after the object is left out.
//! 5. Lenient only: an object inside a string is decoded, once.
//!
//! What is left is refused, with the place and the reason.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::fault;
use super::mend::{Front, front, mend};
use super::value::{ValueError, parse};
use super::{Arguments, RawArguments};
use crate::call::Profile;
use crate::json::{JsonText, kind, lossy};
use crate::limits::Limits;
use crate::result::{CallError, ErrorCode, Repair, RepairKind};

/// The longest form of one byte in a JSON string is `\u00xx`.
const LONGEST_ESCAPE: usize = 6;

/// Reads what the model wrote.
///
/// # Errors
/// The error's code says what is wrong, its pointer where. Text that ends inside a value is `arguments.truncated`.
pub(crate) fn read_arguments(
    raw: RawArguments,
    profile: Profile,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), CallError> {
    let text: Arc<str> = match raw {
        RawArguments::Absent => return Ok(empty()),
        RawArguments::CutOff(_) => return Err(fault::truncated()),
        RawArguments::Text(text) => text,
        RawArguments::Encoded(token) => decoded(token, limits)?,
    };
    let whole = text.trim_ascii();
    if whole.is_empty() || whole == "null" {
        return Ok(empty());
    }
    if whole.len() > limits.max_argument_bytes {
        return Err(fault::too_large(limits.max_argument_bytes));
    }
    let reading = Reading { profile, max_depth: limits.max_argument_depth };
    let Read { value, text: read, repairs } = reading.object(whole)?;
    let other = match read {
        Cow::Borrowed(read) if read.len() == text.len() => None,
        other => Some(Arc::from(&*other)),
    };
    let shared = other.unwrap_or(text);
    let arguments = Arguments::new(JsonText::trusted(shared), value);
    Ok((arguments, repairs.into_iter().map(Repair::whole).collect()))
}

/// Arguments whose text was changed after it was read.
pub(crate) fn reread(text: String, limits: &Limits) -> Result<Arguments, CallError> {
    let value = parse(&text, limits.max_argument_depth)
        .map_err(|error| fault::unreadable(&text, limits.max_argument_depth, error))?;
    Ok(Arguments::new(JsonText::trusted(text.into()), value))
}

fn empty() -> (Arguments, Vec<Repair>) {
    let arguments = Arguments::without_keys(Arguments::NO_KEYS.into());
    (arguments, vec![Repair::whole(RepairKind::EmptyArguments)])
}

/// The text that a JSON value of a reply holds: what a string says, else the value itself.
fn decoded(token: Arc<str>, limits: &Limits) -> Result<Arc<str>, CallError> {
    if !token.starts_with('"') {
        return Ok(token);
    }
    if token.len() / LONGEST_ESCAPE > limits.max_argument_bytes {
        return Err(fault::too_large(limits.max_argument_bytes));
    }
    match lossy::text(&token) {
        Some(text) => Ok(text.into()),
        // No reply holds such a token, but callers may make one.
        None => match parse(&token, limits.max_argument_depth) {
            Err(error) => Err(fault::unreadable(&token, limits.max_argument_depth, error)),
            Ok(value) => Err(fault::not_object(kind(&value))),
        },
    }
}

struct Reading {
    profile: Profile,
    max_depth: usize,
}

/// An object, the text that says it, and what was mended to get there.
struct Read<'a> {
    value: Value,
    text: Cow<'a, str>,
    repairs: Vec<RepairKind>,
}

// === impl Reading ===

impl Reading {
    fn object<'a>(&self, text: &'a str) -> Result<Read<'a>, CallError> {
        let read = self.value(text)?;
        if read.value.is_object() {
            return Ok(read);
        }
        match &read.value {
            Value::String(inner) if self.profile == Profile::Lenient && inner.trim_ascii_start().starts_with('{') => {
                let Read { value, text: decoded, repairs: inner_repairs } = self.value(inner.trim_ascii())?;
                let text = Cow::Owned(decoded.into_owned());
                let mut repairs = read.repairs;
                repairs.push(RepairKind::DoubleEncodedRoot);
                repairs.extend(inner_repairs);
                only_object(Read { value, text, repairs })
            }
            _ => only_object(read),
        }
    }

    fn value<'a>(&self, text: &'a str) -> Result<Read<'a>, CallError> {
        let error = match parse(text, self.max_depth) {
            Ok(value) => return Ok(Read { value, text: Cow::Borrowed(text), repairs: Vec::new() }),
            Err(error @ (ValueError::Syntax(_) | ValueError::CutOff)) => error,
            Err(error) => return Err(fault::unreadable(text, self.max_depth, error)),
        };
        let mended = mend(text);
        let mut repairs = mended.repairs;
        let outcome = match parse(&mended.text, self.max_depth) {
            Ok(value) => Ok((value, mended.text)),
            // Whatever else is wrong with it, text that stops inside a value was cut off.
            Err(ValueError::CutOff) => return Err(fault::truncated()),
            Err(_) => match front(&mended.text) {
                Front::None => Err(fault::unreadable(text, self.max_depth, error)),
                Front::Ambiguous => Err(fault::more_than_one()),
                Front::Value(front) => {
                    repairs.push(RepairKind::TrailingText);
                    match parse(front, self.max_depth) {
                        Ok(value) => Ok((value, front.to_owned())),
                        Err(error) => Err(fault::unreadable(front, self.max_depth, error)),
                    }
                }
            },
        };
        match outcome {
            Ok((value, text)) if repairs.iter().all(|repair| repair.is_admitted(self.profile)) => {
                Ok(Read { value, text: Cow::Owned(text), repairs })
            }
            Ok(_) => Err(CallError::new(ErrorCode::ArgumentsSyntax, not_alone(&repairs))),
            Err(error) => Err(error),
        }
    }
}

fn only_object(read: Read<'_>) -> Result<Read<'_>, CallError> {
    match &read.value {
        Value::Object(_) => Ok(read),
        other => Err(fault::not_object(kind(other))),
    }
}

/// What a strict reading refuses to mend.
fn not_alone(repairs: &[RepairKind]) -> String {
    let kinds: Vec<&str> = repairs.iter().map(|repair| repair.as_str()).collect();
    format!("the arguments are not one JSON object as they stand ({}); give the object alone", kinds.join(", "))
}

//! What all dialects share when they read a reply.

use std::collections::HashMap;

use ahash::RandomState;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::{RawArguments, ToolCall};

/// The calls of a reply, and the text beside them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ParsedReply {
    /// The calls, in the reply's order.
    pub calls: Vec<ToolCall>,
    /// The reply's reasoning, or else the text beside the calls.
    pub reasoning: String,
}

/// Why a reply cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// It is not JSON.
    #[error("the reply is not JSON at line {line}, column {column}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// It is JSON, but not of this dialect.
    #[error("the reply is not in the form {format}: {reason}")]
    NotInForm {
        /// The dialect.
        format: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// It looks like none of the dialects.
    #[error("the reply is in none of the known forms (openai-chat, anthropic, native): name its form with --format")]
    UnknownShape,
    /// There is no such dialect.
    #[error("there is no form `{0}`; the forms are openai-chat, anthropic and native")]
    UnknownFormat(String),
}

/// The outermost keys of a reply.
pub(super) enum Shape<'a> {
    Object(HashMap<String, &'a RawValue, RandomState>),
    List,
    Other,
}

// === impl Shape ===

impl Shape<'_> {
    pub(super) fn has(&self, key: &str) -> bool {
        matches!(self, Self::Object(keys) if keys.contains_key(key))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::List)
    }
}

pub(super) fn shape(reply: &str) -> Result<Shape<'_>, ReplyError> {
    let raw: &RawValue = serde_json::from_str(reply).map_err(not_json)?;
    match raw.get().as_bytes().first() {
        Some(b'{') => serde_json::from_str(reply).map(Shape::Object).map_err(not_json),
        Some(b'[') => Ok(Shape::List),
        _ => Ok(Shape::Other),
    }
}

/// Reads a whole document of one dialect.
pub(super) fn document<'a, T: Deserialize<'a>>(reply: &'a str, format: &'static str) -> Result<T, ReplyError> {
    serde_json::from_str(reply).map_err(|error| {
        if error.is_data() { ReplyError::NotInForm { format, reason: error.to_string() } } else { not_json(error) }
    })
}

/// Arguments that are JSON text inside a string, or an object as it stands; other servers send either.
pub(super) fn arguments(raw: Option<&RawValue>, cut_off: bool) -> RawArguments {
    let Some(raw) = raw.map(RawValue::get) else {
        return if cut_off { RawArguments::CutOff("".into()) } else { RawArguments::Absent };
    };
    // A string that cannot be decoded, by a lone surrogate say, is kept: it is refused with its call.
    let text = match serde_json::from_str::<String>(raw) {
        Ok(text) => text.into(),
        Err(_) => raw.into(),
    };
    if cut_off { RawArguments::CutOff(text) } else { RawArguments::Text(text) }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
fn not_json(error: serde_json::Error) -> ReplyError {
    ReplyError::NotJson { line: error.line(), column: error.column() }
}

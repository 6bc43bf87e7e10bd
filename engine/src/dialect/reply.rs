//! What all dialects share when they read a reply.

use std::collections::HashMap;

use ahash::RandomState;
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

/// The keys of one object in a reply, each value as it stands. Reading key by key keeps one odd field from costing the
/// others, and one odd call from costing its siblings.
pub(super) struct Fields<'a>(HashMap<String, &'a RawValue, RandomState>);

// === impl Fields ===

impl<'a> Fields<'a> {
    /// What is no object has no keys.
    pub(super) fn of(raw: &'a RawValue) -> Self {
        Self(serde_json::from_str(raw.get()).unwrap_or_default())
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.get(key).copied().filter(|raw| raw.get() != "null")
    }

    pub(super) fn object(&self, key: &str) -> Self {
        self.get(key).map_or_else(|| Self(HashMap::default()), Self::of)
    }

    pub(super) fn list(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The text at a key, empty where there is none. What is no readable text stands as it was written, so that it can
    /// be answered and refused.
    pub(super) fn text(&self, key: &str) -> String {
        let raw = self.get(key).map_or("", RawValue::get);
        serde_json::from_str(raw).unwrap_or_else(|_| raw.trim_matches('"').to_owned())
    }
}

/// Reads a whole reply; byte order marks are no part of it.
pub(super) fn document(reply: &str) -> Result<&RawValue, ReplyError> {
    serde_json::from_str(reply.trim_start_matches('\u{feff}')).map_err(not_json)
}

pub(super) fn is_list(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

pub(super) fn missing(format: &'static str, key: &str) -> ReplyError {
    ReplyError::NotInForm { format, reason: format!("it has no list `{key}`") }
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

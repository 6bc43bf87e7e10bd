//! What all dialects share when they read a reply.

use std::borrow::Cow;

use super::StreamError;
use super::turn::{AssistantTurn, TurnPart};
use crate::call::{RawArguments, ToolCall};
use crate::json::JsonText;
use crate::json::lossy;
use crate::json::outline::{Node, Outline};
use crate::json::write::{JsonWriter, ObjectWriter};

/// The calls of a reply, and what was said beside them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ParsedReply {
    /// The calls, in the reply's order.
    pub calls: Vec<ToolCall>,
    /// The reply's reasoning, or else the text beside the calls.
    pub reasoning: String,
    /// The model's turn, for [`super::Dialect::assistant`].
    pub turn: AssistantTurn,
    /// What was odd about the reply and cost no call.
    pub warnings: Vec<String>,
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
    #[error("the reply is in none of the known forms ({}): name its form", super::names())]
    UnknownShape,
    /// There is no such dialect.
    #[error("there is no form `{0}`; the forms are {names}", names = super::names())]
    UnknownFormat(String),
    /// A streamed reply cannot be put together.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// There is no such form of definitions.
    #[error("there is no form `{0}` of definitions; the forms are {names}", names = super::definition::names())]
    UnknownDefinitions(String),
    /// There is no such strict mode.
    #[error("strict cannot be `{0}`; it can be off, auto or on")]
    UnknownStrict(String),
    /// There is no such way to place pictures.
    #[error("pictures cannot go `{0}`; they can go together, each or none")]
    UnknownMedia(String),
}

/// The keys of one object in a reply, each value as it stands. Reading key by key keeps one odd field from costing the
/// others, and one odd call from costing its siblings.
#[derive(Clone, Copy, Default)]
pub(super) struct Fields<'a>(Option<Node<'a>>);

/// Collects what a reply says, in its order.
#[derive(Default)]
pub(super) struct ReplyBuilder {
    reply: ParsedReply,
    /// Text beside the calls, for when there is no reasoning.
    beside: String,
}

// === impl Fields ===

impl<'a> Fields<'a> {
    /// What is no object has no keys.
    pub(super) fn of(node: Node<'a>) -> Self {
        Self(Some(node))
    }

    pub(super) fn get(self, key: &str) -> Option<Node<'a>> {
        self.0?.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn object(self, key: &str) -> Self {
        Self(self.get(key))
    }

    pub(super) fn list(self, key: &str) -> Option<Vec<Node<'a>>> {
        self.get(key)?.items()
    }

    /// The text at a key, empty where there is none. What is no text stands as it was written, so that it can be
    /// answered and refused.
    pub(super) fn text(self, key: &str) -> Cow<'a, str> {
        self.get(key).map_or_else(Cow::default, |value| value.text().unwrap_or(Cow::Borrowed(value.raw())))
    }

    pub(super) fn is_true(self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.raw() == "true")
    }

    pub(super) fn is_null(self, key: &str) -> bool {
        self.0.and_then(|object| object.get(key)).is_some_and(Node::is_null)
    }

    /// The members that are not null and not among `known`.
    pub(super) fn others(self, known: &[&str]) -> impl Iterator<Item = (Cow<'a, str>, Node<'a>)> {
        let members = self.0.map(|object| object.members_but(known)).unwrap_or_default();
        members.into_iter().filter(|(_, value)| !value.is_null())
    }

    /// The same as one object, see [`verbatim`]; nothing where there are none.
    pub(super) fn opaque(self, known: &[&str]) -> Option<JsonText> {
        JsonWriter::default().object_unless_empty(|object| self.write_others(known, object))
    }

    /// The same as members of another object.
    pub(super) fn write_others(self, known: &[&str], object: &mut ObjectWriter<'_>) {
        for (key, value) in self.others(known) {
            object.raw(&key, &lossy::whole(value.raw()));
        }
    }
}

// === impl ReplyBuilder ===

impl ReplyBuilder {
    /// A reply with about so many calls and other parts.
    pub(super) fn with_room_for(parts: usize) -> Self {
        let mut builder = Self::default();
        builder.reply.calls.reserve(parts);
        builder.reply.turn.arguments.reserve(parts);
        builder.reply.turn.parts.reserve(parts);
        builder
    }

    /// The members that the message has besides its calls.
    pub(super) fn members<'a>(&mut self, members: impl Iterator<Item = (Cow<'a, str>, Node<'a>)>) {
        self.reply.turn.members.extend(members.map(|(key, value)| (key.into_owned(), verbatim(value))));
    }

    pub(super) fn member(&mut self, key: &str, value: JsonText) {
        self.reply.turn.members.push((key.to_owned(), value));
    }

    pub(super) fn call(&mut self, call: ToolCall) {
        self.reply.turn.parts.push(TurnPart::Call(self.reply.calls.len()));
        self.reply.turn.arguments.push(call.arguments.clone());
        self.reply.calls.push(call);
    }

    pub(super) fn keep(&mut self, part: Node<'_>) {
        self.reply.turn.parts.push(TurnPart::Kept(verbatim(part)));
    }

    pub(super) fn reasoning(&mut self, text: &str) {
        self.reply.reasoning.push_str(text);
    }

    pub(super) fn beside(&mut self, text: &str) {
        self.beside.push_str(text);
    }

    pub(super) fn warn(&mut self, warning: String) {
        self.reply.warnings.push(warning);
    }

    pub(super) fn build(mut self) -> ParsedReply {
        if self.reply.reasoning.is_empty() {
            self.reply.reasoning = self.beside;
        }
        self.reply
    }
}

/// Reads a whole reply; byte order marks are no part of it.
pub(super) fn document(reply: &str) -> Result<Outline<'_>, ReplyError> {
    Outline::parse(reply.trim_start_matches('\u{feff}')).map_err(not_json)
}

/// A value byte for byte, but for halves of characters: no vendor takes a request that has one.
pub(super) fn verbatim(value: Node<'_>) -> JsonText {
    JsonText::trusted(lossy::whole(value.raw()).into())
}

pub(super) fn missing(format: &'static str, key: &str) -> ReplyError {
    ReplyError::NotInForm { format, reason: format!("it has no list `{key}`") }
}

/// What stands for the arguments: JSON text inside a string, or an object as it is; servers send either.
pub(super) fn arguments(value: Option<Node<'_>>, cut_off: bool) -> RawArguments {
    match value.map(Node::raw) {
        Some(raw) if cut_off => RawArguments::CutOff(raw.into()),
        None if cut_off => RawArguments::CutOff("".into()),
        Some(raw) => RawArguments::Encoded(raw.into()),
        None => RawArguments::Absent,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
fn not_json(error: serde_json::Error) -> ReplyError {
    ReplyError::NotJson { line: error.line(), column: error.column() }
}

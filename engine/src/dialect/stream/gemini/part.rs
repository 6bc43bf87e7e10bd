//! Parts of a reply.

use super::partial::PartialArguments;
use crate::dialect::stream::ledger::Ledger;
use crate::dialect::stream::members::{Extras, Members};
use crate::dialect::stream::text::Text;
use crate::json::JsonText;

/// One part so far.
#[derive(Debug)]
pub(super) enum Part {
    /// As it was sent.
    Whole(JsonText),
    /// Text that more may be joined to.
    Text {
        /// Whether it is the model's thought.
        thought: bool,
        /// The text.
        text: Text,
    },
    /// A call in pieces.
    Call(Box<Call>),
}

/// A call in pieces.
#[derive(Debug, Default)]
pub(super) struct Call {
    part: Extras,
    function: Extras,
    arguments: PartialArguments,
    closed: bool,
}

// === impl Part ===

impl Part {
    pub(super) fn of(part: &Members<'_>, text: &JsonText, ledger: &mut Ledger) -> Self {
        if !is_bare_text(part) {
            return Self::Whole(text.clone());
        }
        let mut text = Text::default();
        text.push(part.get("text"), ledger);
        Self::Text { thought: part.is_true("thought"), text }
    }

    /// Chunks that only end a reply hold such a part.
    pub(super) fn is_empty_text(part: &Members<'_>) -> bool {
        is_bare_text(part) && part.get("text").is_some_and(|raw| raw.raw() == "\"\"")
    }

    /// Takes a piece of text that belongs to this one.
    pub(super) fn join(&mut self, part: &Members<'_>, ledger: &mut Ledger) -> bool {
        match self {
            Self::Text { thought, text } if is_bare_text(part) && *thought == part.is_true("thought") => {
                text.push(part.get("text"), ledger);
                true
            }
            Self::Text { .. } | Self::Whole(_) | Self::Call(_) => false,
        }
    }

    pub(super) fn as_call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) => Some(call),
            Self::Whole(_) | Self::Text { .. } => None,
        }
    }

    pub(super) fn as_call_mut(&mut self) -> Option<&mut Call> {
        match self {
            Self::Call(call) => Some(call),
            Self::Whole(_) | Self::Text { .. } => None,
        }
    }

    /// The part of a whole reply, which ended with STOP or not.
    pub(super) fn json(&self, has_stopped: bool) -> JsonText {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Text { thought: false, text } => JsonText::object([("text", text.json())]),
            Self::Text { thought: true, text } => {
                JsonText::object([("text", text.json()), ("thought", JsonText::trusted("true".into()))])
            }
            Self::Call(call) => call.json(has_stopped),
        }
    }
}

fn is_bare_text(part: &Members<'_>) -> bool {
    let is_text = part.get("text").is_some_and(|raw| raw.raw().starts_with('"'));
    is_text && part.iter().all(|(key, _)| matches!(&*key, "text" | "thought"))
}

// === impl Call ===

impl Call {
    pub(super) fn is_open(&self) -> bool {
        !self.closed
    }

    /// Whether a piece is more of this open call.
    pub(super) fn is_continued_by(&self, function: &Members<'_>) -> bool {
        let (id, name) = (function.text("id"), function.text("name"));
        if !id.is_empty() && self.function.get("id").is_some() {
            return self.function.text("id") == id;
        }
        name.is_empty() || self.function.text("name") == name
    }

    pub(super) fn extend(&mut self, part: &Members<'_>, function: &Members<'_>, ledger: &mut Ledger) {
        self.part.keep_all(part, &["functionCall"], ledger);
        self.function.keep_all(function, &["args", "partialArgs", "willContinue"], ledger);
        if function.get("args").is_some() {
            self.arguments.take_whole(&function.object("args"), ledger);
        }
        for piece in function.list("partialArgs") {
            self.arguments.take(&Members::of(piece), ledger);
        }
        self.closed = !function.is_true("willContinue");
    }

    /// Whether the arguments are not all there.
    pub(super) fn is_cut_off(&self, has_stopped: bool) -> bool {
        !self.arguments.is_whole() || (self.is_open() && !has_stopped)
    }

    fn json(&self, has_stopped: bool) -> JsonText {
        let arguments = self.arguments.object();
        let arguments = if self.is_cut_off(has_stopped) {
            JsonText::string(arguments.as_str().strip_suffix('}').unwrap_or_default())
        } else {
            arguments
        };
        let mut function = self.function.clone();
        function.put("args", arguments);
        let mut part = Extras::default();
        part.put("functionCall", function.object());
        self.part.iter().for_each(|(key, value)| part.put(key, value));
        part.object()
    }
}

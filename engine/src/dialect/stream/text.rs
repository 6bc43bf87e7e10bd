//! Text that arrives in pieces.

use super::ledger::Ledger;
use crate::json::JsonText;
use crate::json::outline::Node;

/// A JSON string without its quotes, escaped as it was sent. Joining pieces in this form keeps a character whole whose
/// two `\u` halves come in two chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct Text(String);

// === impl Text ===

impl Text {
    /// Appends a JSON string; anything else adds nothing.
    pub(super) fn push(&mut self, piece: Option<Node<'_>>, ledger: &mut Ledger) {
        self.push_escaped(piece.and_then(escaped).unwrap_or_default(), ledger);
    }

    /// Appends text that is escaped already.
    pub(super) fn push_escaped(&mut self, piece: &str, ledger: &mut Ledger) {
        if ledger.charge(piece.len()) {
            self.0.push_str(piece);
        }
    }

    /// Replaces the text.
    pub(super) fn set_escaped(&mut self, text: &str, ledger: &mut Ledger) {
        self.release(ledger);
        self.push_escaped(text, ledger);
    }

    /// Forgets the text.
    pub(super) fn release(&mut self, ledger: &mut Ledger) {
        ledger.refund(self.0.len());
        self.0 = String::new();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn as_escaped(&self) -> &str {
        &self.0
    }

    /// The text as a JSON string.
    pub(super) fn json(&self) -> JsonText {
        JsonText::trusted(format!("\"{}\"", self.0).into())
    }

    /// What the text says; nothing when it is no valid Unicode.
    pub(super) fn decoded(&self) -> Option<String> {
        serde_json::from_str(self.json().as_str()).ok()
    }
}

/// The inside of a JSON string; nothing for other values.
pub(super) fn escaped(value: Node<'_>) -> Option<&str> {
    value.raw().strip_prefix('"')?.strip_suffix('"')
}

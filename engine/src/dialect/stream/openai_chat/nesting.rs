//! Whether a JSON value is complete that arrives in pieces.

use crate::json::outline::Node;

/// How deep in a JSON value a text stands, without reading it twice.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    has_begun: bool,
}

// === impl Nesting ===

impl Nesting {
    /// Reads on. Half a character counts as one: its other half may come in the next piece.
    pub(super) fn read(&mut self, piece: Node<'_>) {
        let text = piece.text().unwrap_or_default();
        for byte in text.bytes() {
            if self.in_string {
                self.in_string = self.is_escaped || byte != b'"';
                self.is_escaped = !self.is_escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.has_begun = true;
                    self.depth = self.depth.saturating_add(1);
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether a list or object has begun, and nothing is open.
    pub(super) fn is_complete(&self) -> bool {
        self.has_begun && self.depth == 0 && !self.in_string
    }
}

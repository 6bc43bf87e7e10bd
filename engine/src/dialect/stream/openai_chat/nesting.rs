//! Whether a JSON value is complete that arrives in pieces.

use serde_json::value::RawValue;

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
    /// Reads on. A piece with half a character cannot be decoded and is read as it is escaped; a quote may be missed then.
    pub(super) fn read(&mut self, piece: &RawValue) {
        let text: String =
            serde_json::from_str(piece.get()).unwrap_or_else(|_| piece.get().trim_matches('"').to_owned());
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

//! What an assembler may still keep, and what it has to say.

/// Calls, blocks or items of one reply.
const MAX_ITEMS: usize = 1024;
/// What an item costs besides its text.
const ITEM_BYTES: usize = 64;
/// Warnings of one reply; one more says that there are others.
const MAX_WARNINGS: usize = 32;

/// Counts the bytes kept, and collects warnings.
#[derive(Debug)]
pub(super) struct Ledger {
    bytes_left: usize,
    too_large: bool,
    warnings: Vec<String>,
}

// === impl Ledger ===

impl Ledger {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { bytes_left: max_bytes, too_large: false, warnings: Vec::new() }
    }

    /// Whether so many bytes may be kept. Once they may not, the whole stream is refused.
    pub(super) fn charge(&mut self, bytes: usize) -> bool {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) if !self.too_large => self.bytes_left = left,
            _ => self.too_large = true,
        }
        !self.too_large
    }

    /// Gives back bytes that are kept no longer.
    pub(super) fn refund(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_add(bytes);
    }

    /// Whether one more item may stand beside `present` others.
    pub(super) fn admit(&mut self, present: usize) -> bool {
        if present >= MAX_ITEMS {
            self.too_large = true;
        }
        self.charge(ITEM_BYTES)
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.too_large
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        warn(&mut self.warnings, warning);
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

/// Adds a warning while there is room.
pub(super) fn warn(warnings: &mut Vec<String>, warning: impl Into<String>) {
    if warnings.len() < MAX_WARNINGS {
        warnings.push(warning.into());
    } else if warnings.len() == MAX_WARNINGS {
        warnings.push("further warnings were left out".to_owned());
    }
}

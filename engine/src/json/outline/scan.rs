//! The one look over a document, which also checks that it is JSON.

use super::{Outline, Place};
use crate::json::plain::plain;

/// A list or object whose end has not come, by its place.
struct Open {
    index: usize,
    is_object: bool,
}

/// What may stand next in a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    /// A value, or the end of a list that has none.
    FirstItem,
    Key,
    /// A key, or the end of an object that has none.
    FirstKey,
    /// A comma, the end of what is open, or that of the document.
    Behind,
}

// === impl Outline ===

impl Outline<'_> {
    /// Walks the text once, without recursion. Nothing when it is not one JSON value.
    pub(super) fn scan(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<Open> = Vec::with_capacity(Self::USUAL_DEPTH);
        let mut next = Next::Value;
        let mut at = 0;
        loop {
            let Some(byte) = bytes.get(at) else { return (next == Next::Behind && open.is_empty()).then_some(()) };
            (at, next) = match (byte, next) {
                (b' ' | b'\n' | b'\r' | b'\t', _) => (at + 1, next),
                (b'"', Next::Key | Next::FirstKey) => (after_colon(bytes, self.string(at)?)?, Next::Value),
                (b'"', Next::Value | Next::FirstItem) => (self.string(at)?, Next::Behind),
                (b',', Next::Behind) => (at + 1, if open.last()?.is_object { Next::Key } else { Next::Value }),
                (b'{' | b'[', Next::Value | Next::FirstItem) => {
                    let is_object = *byte == b'{';
                    open.push(Open { index: self.places.len(), is_object });
                    self.places.push(Place { start: at, ..Place::default() });
                    (at + 1, if is_object { Next::FirstKey } else { Next::FirstItem })
                }
                (b'}', Next::Behind | Next::FirstKey) | (b']', Next::Behind | Next::FirstItem) => {
                    let closed = open.pop().filter(|open| open.is_object == (*byte == b'}'))?;
                    let after = self.places.len();
                    let place = self.places.get_mut(closed.index)?;
                    (place.end, place.next) = (at + 1, after);
                    (at + 1, Next::Behind)
                }
                (_, Next::Value | Next::FirstItem) => (self.word(at)?, Next::Behind),
                _ => return None,
            };
        }
    }

    fn string(&mut self, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = start + 1 + plain(bytes.get(start + 1..)?);
        let is_plain = bytes.get(at) == Some(&b'"');
        while *bytes.get(at)? != b'"' {
            at += length_of_escape(bytes.get(at..)?)?;
            at += plain(bytes.get(at..)?);
        }
        self.places.push(Place { start, end: at + 1, next: self.places.len() + 1, is_plain });
        Some(at + 1)
    }

    /// A number or a literal.
    fn word(&mut self, start: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(start..)?;
        let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
        let word = rest.get(..rest.iter().position(is_end).unwrap_or(rest.len()))?;
        let end = start + word.len();
        self.places.push(Place { start, end, next: self.places.len() + 1, is_plain: false });
        (matches!(word, b"null" | b"true" | b"false") || is_number(word)).then_some(end)
    }
}

fn after_colon(bytes: &[u8], mut at: usize) -> Option<usize> {
    while matches!(bytes.get(at)?, b' ' | b'\n' | b'\r' | b'\t') {
        at += 1;
    }
    (*bytes.get(at)? == b':').then_some(at + 1)
}

fn length_of_escape(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(2),
        [b'\\', b'u', digits @ ..] => digits.get(..4)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

fn is_number(word: &[u8]) -> bool {
    let rest = match word.strip_prefix(b"-").unwrap_or(word) {
        [b'0', rest @ ..] => rest,
        [b'1'..=b'9', rest @ ..] => behind_digits(rest),
        _ => return false,
    };
    let rest = match rest {
        [b'.', b'0'..=b'9', rest @ ..] => behind_digits(rest),
        rest => rest,
    };
    match rest {
        [b'e' | b'E', b'+' | b'-', b'0'..=b'9', rest @ ..] | [b'e' | b'E', b'0'..=b'9', rest @ ..] => {
            behind_digits(rest).is_empty()
        }
        rest => rest.is_empty(),
    }
}

fn behind_digits(bytes: &[u8]) -> &[u8] {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.get(digits..).unwrap_or_default()
}

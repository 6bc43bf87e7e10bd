//! Where each value of a JSON document stands, found in one look over it.
//!
//! Reading a document level by level looks at what is innermost once for each level around it; a call in a reply lies six
//! levels deep.

use std::borrow::Cow;

use ahash::RandomState;
use indexmap::IndexMap;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::lossy;
use super::plain::plain;

/// Members of an object among which a repeated key is searched for one by one.
const FEW: usize = 16;

/// The values of a document in the order in which they begin, keys among them.
pub(crate) struct Outline<'a> {
    text: &'a str,
    places: Vec<Place>,
}

/// Where a value stands in the text.
#[derive(Clone, Copy, Default)]
struct Place {
    start: usize,
    end: usize,
    /// The first of the places behind all that the value holds.
    next: usize,
    /// Whether it is a string that has no escape in it.
    is_plain: bool,
}

/// One value of a document.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    outline: &'a Outline<'a>,
    index: usize,
}

/// The keys and values of an object in turn, or the items of a list.
struct Inside<'a> {
    outline: &'a Outline<'a>,
    at: usize,
    end: usize,
}

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

impl<'a> Outline<'a> {
    /// How many values the outline of an ordinary document has room for from the start.
    const MOST_EXPECTED: usize = 1024;
    /// Levels of an ordinary document.
    const USUAL_DEPTH: usize = 8;
    /// Bytes of a short value.
    const BYTES_A_VALUE: usize = 4;

    /// Reads one JSON value, of any depth, with white space around it.
    ///
    /// # Errors
    /// Gives serde's error when it is none.
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut outline = Self::empty(text);
        if outline.scan().is_some() {
            return Ok(outline);
        }
        // Where it stops being JSON, others say better.
        let read: Result<&RawValue, serde_json::Error> = serde_json::from_str(text);
        Err(read.err().unwrap_or_else(|| serde_json::Error::custom("not JSON")))
    }

    /// The same of text that is known to be valid. Of other text it knows what stands before the fault.
    pub(crate) fn of(text: &'a str) -> Self {
        let mut outline = Self::empty(text);
        outline.scan();
        outline
    }

    pub(crate) fn root(&'a self) -> Node<'a> {
        Node { outline: self, index: 0 }
    }

    fn empty(text: &'a str) -> Self {
        let expected = (text.len() / Self::BYTES_A_VALUE + 1).min(Self::MOST_EXPECTED);
        Self { text, places: Vec::with_capacity(expected) }
    }

    /// Walks the text once, without recursion. Nothing when it is not one JSON value.
    fn scan(&mut self) -> Option<()> {
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

// === impl Node ===

impl<'a> Node<'a> {
    /// The value as it is written.
    pub(crate) fn raw(self) -> &'a str {
        let place = self.place();
        self.outline.text.get(place.start..place.end).unwrap_or_default()
    }

    pub(crate) fn is_null(self) -> bool {
        self.raw() == "null"
    }

    pub(crate) fn is_object(self) -> bool {
        self.raw().starts_with('{')
    }

    pub(crate) fn is_list(self) -> bool {
        self.raw().starts_with('[')
    }

    /// The text of a string; half of a surrogate pair, which is no character, becomes `U+FFFD`.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let place = self.place();
        if place.is_plain {
            return self.outline.text.get(place.start + 1..place.end - 1).map(Cow::Borrowed);
        }
        lossy::string(self.raw())
    }

    /// The items of a list; nothing where it is none.
    pub(crate) fn items(self) -> Option<Vec<Node<'a>>> {
        self.is_list().then(|| self.inside().collect())
    }

    /// The value under this key; of a repeated key the last counts. What is no object has none.
    pub(crate) fn get(self, key: &str) -> Option<Node<'a>> {
        self.members().filter(|(name, _)| name.is_string(key)).last().map(|(_, value)| value)
    }

    /// Keys and values as they stand. What is no object has none.
    pub(crate) fn members(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        let mut inside = self.is_object().then(|| self.inside()).into_iter().flatten();
        std::iter::from_fn(move || Some((inside.next()?, inside.next()?)))
    }

    /// The members whose keys are not among `known`, each in the place where its key first stands, with the value that
    /// it has last.
    pub(crate) fn members_but(self, known: &[&str]) -> Vec<(Cow<'a, str>, Node<'a>)> {
        self.members_where(|key| !known.contains(&key))
    }

    /// The same for keys that are wanted.
    pub(crate) fn members_where(self, wanted: impl Fn(&str) -> bool) -> Vec<(Cow<'a, str>, Node<'a>)> {
        let named = self.members().map(|(key, value)| (key.text().unwrap_or_default(), value));
        let mut members = named.filter(|(key, _)| wanted(key));
        let mut few: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
        while let Some((key, value)) = members.next() {
            match few.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = value,
                None => few.push((key, value)),
            }
            // Searching is faster than hashing as long as there are few.
            if few.len() > FEW {
                let all: IndexMap<_, _, RandomState> = few.into_iter().chain(members).collect();
                return all.into_iter().collect();
            }
        }
        few
    }

    fn is_string(self, text: &str) -> bool {
        let place = self.place();
        if place.is_plain {
            return self.outline.text.as_bytes().get(place.start + 1..place.end - 1) == Some(text.as_bytes());
        }
        self.text().is_some_and(|own| own == text)
    }

    fn inside(self) -> Inside<'a> {
        Inside { outline: self.outline, at: self.index + 1, end: self.place().next }
    }

    fn place(self) -> Place {
        self.outline.places.get(self.index).copied().unwrap_or_default()
    }
}

// === impl Inside ===

impl<'a> Iterator for Inside<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let node = (self.at < self.end).then_some(Node { outline: self.outline, index: self.at })?;
        self.at = node.place().next;
        Some(node)
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::any_json;

//! Where each value of a JSON document stands, found in one look over it.
//!
//! Reading a document level by level looks at what is innermost once for each level around it; a call in a reply lies six
//! levels deep.

use std::borrow::Cow;

use ahash::RandomState;
use indexmap::IndexMap;

use super::lossy;
use super::plain::plain;
use super::readable::end_of_string;

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

// === impl Outline ===

impl<'a> Outline<'a> {
    /// How many values the outline of an ordinary document has room for from the start.
    const MOST_EXPECTED: usize = 1024;
    /// Bytes of a short value, with its key.
    const BYTES_A_VALUE: usize = 8;

    /// `text` must be valid JSON, and one value.
    pub(crate) fn of(text: &'a str) -> Self {
        let expected = (text.len() / Self::BYTES_A_VALUE + 1).min(Self::MOST_EXPECTED);
        let mut outline = Self { text, places: Vec::with_capacity(expected) };
        outline.scan();
        outline
    }

    pub(crate) fn root(&'a self) -> Node<'a> {
        Node { outline: self, index: 0 }
    }

    /// Walks the text once, without recursion.
    fn scan(&mut self) {
        let bytes = self.text.as_bytes();
        let mut open = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let mut is_plain = false;
            let end = match byte {
                b'{' | b'[' => {
                    open.push(self.places.len());
                    self.places.push(Place { start: at, ..Place::default() });
                    at += 1;
                    continue;
                }
                b'}' | b']' => {
                    at += 1;
                    let next = self.places.len();
                    if let Some(place) = open.pop().and_then(|index| self.places.get_mut(index)) {
                        (place.end, place.next) = (at, next);
                    }
                    continue;
                }
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => {
                    at += 1;
                    continue;
                }
                b'"' => {
                    let end = at + 1 + plain(bytes.get(at + 1..).unwrap_or_default());
                    is_plain = bytes.get(end) == Some(&b'"');
                    if is_plain { end + 1 } else { end_of_string(self.text, end) }
                }
                _ => end_of_word(bytes, at),
            };
            self.places.push(Place { start: at, end, next: self.places.len() + 1, is_plain });
            at = end;
        }
    }
}

/// The place after the number or literal that begins at `start`.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
    start + rest.iter().position(is_end).unwrap_or(rest.len())
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
    pub(crate) fn members_but(self, known: &[&str]) -> IndexMap<Cow<'a, str>, Node<'a>, RandomState> {
        let members = self.members().map(|(key, value)| (key.text().unwrap_or_default(), value));
        members.filter(|(key, _)| !known.contains(&&**key)).collect()
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

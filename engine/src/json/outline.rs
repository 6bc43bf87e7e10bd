//! Where each value of a JSON document stands, found in one look over it.
//!
//! Reading a document level by level looks at what is innermost once for each level around it; a call in a reply lies six
//! levels deep.

mod scan;

use std::borrow::Cow;

use ahash::RandomState;
use indexmap::IndexMap;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::lossy;

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

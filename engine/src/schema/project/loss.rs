//! What a copy could not say.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Projection;

/// The keyword is not exported, and nobody is told.
pub(super) const DROPPED: &str = "is not exported";
/// The keyword is not exported; the description says it in words.
pub(super) const DESCRIBED: &str = "is said in the description instead";
/// The alternatives are merged into one object; the description names them.
pub(super) const FOLDED: &str = "is merged into one object, and the description tells the forms";
/// Exactly one form becomes one form or more.
pub(super) const EITHER: &str = "is said as `anyOf`, one form or more";
/// The property admits no value.
pub(super) const NEVER: &str = "admits no value and is left out";
/// The vendor refuses the name of the property.
pub(super) const NAME: &str = "has a name that is refused, and is said in the description instead";
/// The schema goes on, the copy does not.
pub(super) const CUT: &str = "is cut off: it is recursive, too deep or too large";
/// The copy cannot be made for this vendor's strict mode.
pub(super) const NOT_STRICT: &str = "cannot be said in strict mode";

/// Losses that one copy reports.
const MAX_LOSSES: usize = 200;

/// Something that a copy of a schema does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// JSON pointer of the schema in which it was said. In the copy of an inlined definition, a pointer of the copy.
    pub pointer: String,
    /// The keyword, or the property's name.
    pub keyword: String,
    /// What became of it: one of a closed list of phrases.
    pub note: String,
}

impl Serialize for Loss {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut loss = serializer.serialize_struct("Loss", 4)?;
        loss.serialize_field("code", Self::CODE)?;
        loss.serialize_field("pointer", &self.pointer)?;
        loss.serialize_field("keyword", &self.keyword)?;
        loss.serialize_field("note", &self.note)?;
        loss.end()
    }
}

#[derive(Debug, Default)]
pub(super) struct Losses {
    list: Vec<Loss>,
    told: usize,
}

// === impl Loss ===

impl Loss {
    /// What stands for every loss in documents, for programs.
    pub const CODE: &str = "schema_simplified";
}

// === impl Losses ===

impl Losses {
    pub(super) fn add(&mut self, pointer: &str, keyword: &str, note: &'static str) {
        self.told += 1;
        let loss = Loss { pointer: pointer.to_owned(), keyword: keyword.to_owned(), note: note.to_owned() };
        if self.list.len() < MAX_LOSSES && !self.list.contains(&loss) {
            self.list.push(loss);
        }
    }

    /// How often a loss was told, also of those that are not kept.
    pub(super) fn told(&self) -> usize {
        self.told
    }

    pub(super) fn append(&mut self, more: Self) {
        self.told += more.told;
        for loss in more.list {
            if self.list.len() < MAX_LOSSES && !self.list.contains(&loss) {
                self.list.push(loss);
            }
        }
    }

    pub(super) fn with(self, schema: Value) -> Projection {
        Projection { schema, losses: self.list }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the root" } else { &self.pointer };
        match self.keyword.as_str() {
            "" => write!(f, "schema_simplified: {place} {}", self.note),
            keyword => write!(f, "schema_simplified: `{keyword}` at {place} {}", self.note),
        }
    }
}

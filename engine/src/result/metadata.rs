//! Metadata: whatever a result says beyond its own fields.

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// An object of further keys; a pointer's size, and no allocation, where there are none, as in most results.
///
/// Reads and writes like the [`Map`] that it stands for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(Option<Box<Map<String, Value>>>);

static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

// === impl Metadata ===

impl From<Map<String, Value>> for Metadata {
    fn from(map: Map<String, Value>) -> Self {
        Self((!map.is_empty()).then(|| Box::new(map)))
    }
}

impl Metadata {
    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|map| map.is_empty())
    }
}

impl Deref for Metadata {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Metadata {
    fn deref_mut(&mut self) -> &mut Map<String, Value> {
        self.0.get_or_insert_default()
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

//! ToolNames: a set of tools, by the names that an operator writes.

use std::collections::HashSet;
use std::sync::Arc;

use ahash::RandomState;

use super::membership::{Place, PlaceOf, Places};

/// A set of tools, as an operator names them: `*` for all, `<provider>.*` for those of a provider, `<provider>.<name>` for
/// one, or the bare name under which a model calls it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolNames {
    all: bool,
    providers: HashSet<Arc<str>, RandomState>,
    names: HashSet<Arc<str>, RandomState>,
    place: PlaceOf,
}

// === impl ToolNames ===

impl ToolNames {
    /// The set that these patterns describe.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = Self::default();
        for pattern in patterns {
            match pattern.strip_suffix(".*") {
                _ if pattern == "*" => set.all = true,
                Some(provider) => drop(set.providers.insert(provider.into())),
                None => drop(set.names.insert(pattern.into())),
            }
        }
        set
    }

    /// Every tool.
    pub fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Whether the set is every tool.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// The single tools, as they were written.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names.iter()
    }

    /// The providers whose tools are all in the set.
    pub(crate) fn providers(&self) -> impl Iterator<Item = &Arc<str>> {
        self.providers.iter()
    }

    /// Whether no tool can be in the set.
    pub fn is_empty(&self) -> bool {
        !self.all && self.providers.is_empty() && self.names.is_empty()
    }

    /// From now on tools remember whether they are in the set, as long as there is room for that.
    pub(super) fn settle(&mut self, places: &mut Places) {
        let is_searched = !self.all && !self.is_empty();
        self.place = PlaceOf(if is_searched { places.next() } else { None });
    }

    pub(super) fn place(&self) -> Option<Place> {
        self.place.0
    }

    /// Whether a tool is in the set, by its provider, its id and the name that a model calls it by.
    pub fn contains(&self, provider: &str, tool_id: &str, model_name: &str) -> bool {
        self.all
            || (!self.names.is_empty() && (self.names.contains(tool_id) || self.names.contains(model_name)))
            || (!self.providers.is_empty() && self.providers.contains(provider))
    }
}

//! LoadedSet: the deferred tools that a session has found.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names that a session remembers as loaded; it finds no more beyond.
const MAX_LOADED: usize = 10_000;

/// The deferred tools that a session has loaded: single ones that `tool_search` found, and all on-demand tools of the
/// providers that `plugins.use` loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadedSet {
    /// Ids of tools.
    pub tools: BTreeSet<Arc<str>>,
    /// Names of providers.
    pub providers: BTreeSet<Arc<str>>,
}

// === impl LoadedSet ===

impl LoadedSet {
    /// Whether nothing is loaded.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.providers.is_empty()
    }

    /// Whether a tool was found.
    pub fn has_tool(&self, tool_id: &str) -> bool {
        self.tools.contains(tool_id)
    }

    /// Whether the on-demand tools of a provider were loaded.
    pub fn has_provider(&self, provider: &str) -> bool {
        self.providers.contains(provider)
    }

    /// Adds what `other` has, up to [`MAX_LOADED`] names in all. Says whether that was anything new.
    pub(crate) fn add(&mut self, other: &Self) -> bool {
        let before = self.len();
        for name in &other.tools {
            if self.len() < MAX_LOADED {
                self.tools.insert(Arc::clone(name));
            }
        }
        for name in &other.providers {
            if self.len() < MAX_LOADED {
                self.providers.insert(Arc::clone(name));
            }
        }
        self.len() != before
    }

    fn len(&self) -> usize {
        self.tools.len() + self.providers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_remembers_only_so_many_names() {
        let names = |from: usize| (from..from + 6_000).map(|n| Arc::from(format!("p.{n}"))).collect();
        let mut loaded = LoadedSet { tools: names(0), ..LoadedSet::default() };
        assert!(loaded.add(&LoadedSet { tools: names(6_000), ..LoadedSet::default() }));
        assert_eq!(loaded.tools.len(), MAX_LOADED);
        assert!(!loaded.add(&LoadedSet { providers: names(0), ..LoadedSet::default() }), "nothing goes beyond");
    }
}

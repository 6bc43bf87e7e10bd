//! LoadedSet: the deferred tools that a session has found.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

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

    /// Adds what `other` has. Says whether that was anything new.
    pub(crate) fn add(&mut self, other: &Self) -> bool {
        let before = self.tools.len() + self.providers.len();
        self.tools.extend(other.tools.iter().cloned());
        self.providers.extend(other.providers.iter().cloned());
        self.tools.len() + self.providers.len() != before
    }
}

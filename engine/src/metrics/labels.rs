//! ToolLabels: which tools have a label of their own. A provider may list new names for ever; series may not.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use ahash::RandomState;

/// Label value for tools beyond the limit.
const OTHER: &str = "_other";

/// The tools that have a label of their own, the first to come up to a limit.
#[derive(Debug)]
pub(crate) struct ToolLabels {
    known: Mutex<HashSet<Key, RandomState>>,
    limit: usize,
}

/// Provider and tool.
type Key = (Arc<str>, Arc<str>);

// === impl ToolLabels ===

impl ToolLabels {
    pub(crate) fn new(limit: usize) -> Self {
        Self { known: Mutex::default(), limit }
    }

    /// The tool's name, or `_other`.
    pub(crate) fn label(&self, provider: &Arc<str>, tool: &Arc<str>) -> Arc<str> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (Arc::clone(provider), Arc::clone(tool));
        if known.len() < self.limit || known.contains(&key) {
            known.insert(key);
            return Arc::clone(tool);
        }
        OTHER.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_beyond_the_limit_share_a_label_and_known_ones_keep_theirs() {
        let labels = ToolLabels::new(2);
        let names = ["a", "b", "c", "a"].map(|tool| labels.label(&"p".into(), &tool.into()).to_string());
        assert_eq!(names, ["a", "b", "_other", "a"]);
    }
}

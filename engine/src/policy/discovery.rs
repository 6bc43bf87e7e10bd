//! How deferred tools are found and loaded.

use serde::{Deserialize, Serialize};

/// How deferred tools are found and loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveryPolicy {
    /// What becomes of calls of deferred tools that the session has not loaded. Default [`Undiscovered::Refuse`].
    pub undiscovered: Undiscovered,
    /// How a search ranks what it finds, and the form of `tool_search`'s result. Default [`Ranking::MaiBot`].
    pub ranking: Ranking,
    /// How many tools a search finds, unless it asks for another number. Default 5.
    pub search_limit: usize,
}

/// How a search ranks what it finds. Letter case never counts; equal ranks are sorted by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ranking {
    /// By points, as in MaiBot: 1,000 for the name, 300 for its beginning, 200 for a part of it, 100 for a part of the
    /// summary; and for each word 25 in the name and 10 in the summary. The result is lines of text.
    #[default]
    MaiBot,
    /// As in LenBot: the name, then its beginning, then a part of name, summary or whole description. A search never
    /// finds more than [`DiscoveryPolicy::search_limit`]. The result is JSON.
    LenBot,
}

/// What becomes of calls of deferred tools that the session has not loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undiscovered {
    /// They are refused with a hint.
    #[default]
    Refuse,
    /// They run, as in MaiBot.
    Allow,
}

// === impl DiscoveryPolicy ===

impl Default for DiscoveryPolicy {
    fn default() -> Self {
        Self { undiscovered: Undiscovered::default(), ranking: Ranking::default(), search_limit: 5 }
    }
}

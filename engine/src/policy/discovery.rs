//! How deferred tools are found and loaded.

use serde::{Deserialize, Serialize};

/// How deferred tools are found and loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveryPolicy {
    /// What becomes of calls of deferred tools that the session has not loaded. Default [`Undiscovered::Refuse`].
    pub undiscovered: Undiscovered,
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

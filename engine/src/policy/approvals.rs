//! What becomes of calls that a person has to agree to.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What becomes of calls that a person has to agree to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalPolicy {
    /// Whether the call waits, or its batch goes on without it. Default [`ApprovalMode::Return`].
    pub mode: ApprovalMode,
    /// How long a decision is awaited; later ones are refused. Default 5 min.
    pub timeout: Duration,
}

/// What a call does that a person has to agree to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// It ends as `approval_required`, with the id of its approval; once approved it runs outside of its batch.
    #[default]
    Return,
    /// It waits for the decision, and its batch with it.
    Wait,
}

// === impl ApprovalPolicy ===

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self { mode: ApprovalMode::default(), timeout: Duration::from_secs(300) }
    }
}

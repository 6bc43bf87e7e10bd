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
    /// Approvals that may be open at once, in all; further calls are denied. Default 10,000.
    pub max_pending: usize,
    /// Bytes of arguments and contexts that they may hold. Default 64 MiB.
    pub max_pending_bytes: usize,
    /// Approvals that may be open in one session; further calls of it are denied. Default 32.
    pub max_per_session: usize,
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
        Self {
            mode: ApprovalMode::default(),
            timeout: Duration::from_secs(300),
            max_pending: 10_000,
            max_pending_bytes: 64 << 20,
            max_per_session: 32,
        }
    }
}

//! How long context providers may take, and how much they may say.

use std::time::Duration;

/// How long context providers may take, and how much they may say (seed 003, "Context and instructions").
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextPolicy {
    /// What comes later is left out. Default 800 ms.
    pub timeout: Duration,
    /// Bytes of one provider's text; the rest is left out. Default 16 KiB.
    pub max_bytes: usize,
}

// === impl ContextPolicy ===

impl Default for ContextPolicy {
    fn default() -> Self {
        Self { timeout: Duration::from_millis(800), max_bytes: 16 << 10 }
    }
}

//! Gate: a flood of a server is no flood in the log.

use std::sync::{Mutex, PoisonError};

use crate::process::Rate;

/// Lets a few lines a second through.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<Rate>);

// === impl Gate ===

impl Gate {
    /// Whether one more line may be written now. Tells of those that were left out.
    pub(super) fn admits(&self, provider: &str) -> bool {
        let admitted = self.0.lock().unwrap_or_else(PoisonError::into_inner).admit(tokio::time::Instant::now());
        if let Some(dropped @ 1..) = admitted {
            tracing::warn!(provider, dropped, "the server made too much noise; lines are left out");
        }
        admitted.is_some()
    }
}

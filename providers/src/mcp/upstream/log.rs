//! Gates: a flood of a server is no flood in the log.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::process::Rate;

/// What need not be said more often.
const SELDOM: Duration = Duration::from_secs(10);

/// Lets one line through in a while.
#[derive(Debug, Default)]
pub(super) struct SeldomGate(Mutex<Option<Instant>>);

/// Lets a few lines a second through.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<Rate>);

// === impl SeldomGate ===

impl SeldomGate {
    /// Whether it may be said now.
    pub(super) fn admits(&self) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = said.is_none_or(|said| said.elapsed() >= SELDOM);
        if is_due {
            *said = Some(Instant::now());
        }
        is_due
    }
}

// === impl Gate ===

impl Gate {
    /// Whether one more line may be written now. Tells of those that were left out.
    pub(super) fn admits(&self, provider: &str) -> bool {
        let admitted = self.0.lock().unwrap_or_else(PoisonError::into_inner).admit(Instant::now());
        if let Some(dropped @ 1..) = admitted {
            tracing::warn!(provider, dropped, "the server made too much noise; lines are left out");
        }
        admitted.is_some()
    }
}

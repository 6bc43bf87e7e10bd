//! ApprovalEvents: every change of every approval, for whoever shows them to people.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::Approval;

/// Changes that may wait for a reader; one that is slower misses the oldest.
pub(super) const EVENT_ROOM: usize = 1024;

/// Every change of every approval, from when this was asked for.
#[derive(Debug)]
pub struct ApprovalEvents {
    pub(super) changes: broadcast::Receiver<Arc<Approval>>,
    pub(super) missed: u64,
}

// === impl ApprovalEvents ===

impl ApprovalEvents {
    /// The approval that has changed next, as it was then. Nothing once the engine is gone.
    pub async fn next(&mut self) -> Option<Arc<Approval>> {
        loop {
            match self.changes.recv().await {
                Ok(approval) => return Some(approval),
                Err(RecvError::Lagged(missed)) => self.missed += missed,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// How many changes were missed so far, because they came faster than they were read.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

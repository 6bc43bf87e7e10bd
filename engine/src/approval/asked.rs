//! Asked: the approvals that a batch has asked for, until its outcome is there.

use std::sync::Arc;

use super::{ApprovalId, writer};
use crate::engine::Engine;

/// The approvals that a batch has asked for. Whoever cancels the batch, or drops it, never hears of them: they are
/// withdrawn.
pub(crate) struct Asked {
    engine: Arc<Engine>,
    ids: Vec<ApprovalId>,
}

// === impl Asked ===

impl Asked {
    pub(crate) fn new(engine: &Arc<Engine>, ids: Vec<ApprovalId>) -> Self {
        Self { engine: Arc::clone(engine), ids }
    }

    /// Keeps them in the store, before anybody is told of them. Where that fails it is tried again later.
    pub(crate) async fn keep(&self) {
        let keeping = async {
            for id in &self.ids {
                if let Err(error) = writer::keep(&self.engine, id).await {
                    tracing::warn!(%id, %error, "an approval cannot be kept yet; it is tried again");
                }
            }
        };
        // A store that hangs holds a batch up once, however many it asks for.
        drop(tokio::time::timeout(self.engine.limits.control_timeout, keeping).await);
    }

    /// The batch has its outcome, and somebody hears of them.
    pub(crate) fn hand_over(mut self) {
        self.ids.clear();
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        for id in &self.ids {
            self.engine.approvals.withdraw(id);
        }
    }
}

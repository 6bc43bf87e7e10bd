//! Delivery: how a call in a task of its own comes back to its batch.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::RunningBatch;
use super::call_run::CallRun;
use super::settled::Settled;
use crate::result::ErrorCode;
use crate::text;

/// Leaves something in the outbox whatever becomes of its task.
pub(super) struct Delivery {
    batch: Arc<RunningBatch>,
    place: usize,
    settled: Option<Settled>,
}

// === impl Delivery ===

impl Delivery {
    /// For the call at `place`.
    pub(super) fn of(batch: &Arc<RunningBatch>, place: usize) -> Self {
        Self { batch: Arc::clone(batch), place, settled: None }
    }

    /// Runs an admitted call on the pool for blocking work. A body that waits there is dropped when it is given up; one
    /// that blocks its thread has to look for itself.
    pub(super) fn spawn_blocking(self, run: CallRun) -> JoinHandle<()> {
        let runtime = tokio::runtime::Handle::current();
        let given_up = self.batch.token_of(self.place);
        tokio::task::spawn_blocking(move || {
            if let Some(settled) = runtime.block_on(given_up.run_until_cancelled_owned(run)) {
                self.deliver(settled);
            }
        })
    }

    pub(super) fn deliver(mut self, settled: Settled) {
        self.settled = Some(settled);
    }
}

impl Drop for Delivery {
    /// A task that was aborted, or whose runtime shuts down, has nothing to deliver.
    fn drop(&mut self) {
        let settled = self.settled.take().unwrap_or_else(|| {
            let error = text::cancelled(self.batch.context.locale, ErrorCode::CancelledShutdown);
            Settled::given_up(error, self.batch.admitted[self.place].entry.give_up(), self.batch.clock.now())
        });
        self.batch.outbox.push(self.place, settled);
    }
}

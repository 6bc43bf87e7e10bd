//! How a call that runs apart comes back to its batch: from a task of its own, or from a thread for blocking work.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::task::JoinHandle;

use super::RunningBatch;
use super::call_run::CallRun;
use super::settled::Settled;
use crate::result::ErrorCode;
use crate::text;

/// A call in a task of its own. Leaves its end in the outbox, whatever becomes of the task.
pub(super) struct CallTask {
    run: CallRun,
    is_delivered: bool,
}

/// Leaves something in the outbox whatever becomes of its thread.
pub(super) struct Delivery {
    batch: Arc<RunningBatch>,
    place: usize,
    settled: Option<Settled>,
}

// === impl CallTask ===

impl CallTask {
    pub(super) fn new(run: CallRun) -> Self {
        Self { run, is_delivered: false }
    }
}

impl Future for CallTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_delivered {
            return Poll::Ready(());
        }
        let settled = ready!(Pin::new(&mut self.run).poll(cx));
        // Whoever hears of the end finds the place of the call free.
        self.run.leave();
        self.is_delivered = true;
        self.run.batch().outbox.push(self.run.place(), settled);
        Poll::Ready(())
    }
}

impl Drop for CallTask {
    /// A task that was aborted, or whose runtime shuts down, has nothing to deliver.
    fn drop(&mut self) {
        if !self.is_delivered {
            self.run.leave();
            let (batch, place) = (self.run.batch(), self.run.place());
            batch.outbox.push(place, shut_down(batch, place));
        }
    }
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
    fn drop(&mut self) {
        let settled = self.settled.take().unwrap_or_else(|| shut_down(&self.batch, self.place));
        self.batch.outbox.push(self.place, settled);
    }
}

/// The end of a call whose task or thread went away under it.
fn shut_down(batch: &RunningBatch, place: usize) -> Settled {
    let error = text::cancelled(batch.context.locale, ErrorCode::CancelledShutdown);
    Settled::given_up(error, batch.admitted[place].entry.give_up(), batch.clock.now())
}

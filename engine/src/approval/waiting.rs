//! Waiting: the tie between a call that waits inside its batch and the run that its approval leads to.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::SetOnce;
use tokio::time::Instant;

use super::{ApprovalId, ApprovalNotice, ApprovalOutcome, ApprovalRequest, ApprovalState, Approvals};
use crate::dispatch::{BatchControl, CancelReason, RunningBatch};

/// A call that waits inside its batch.
pub(crate) struct Waiting {
    request: Arc<ApprovalRequest>,
    expires: Instant,
    /// The batch that waits, and the call's place in it; set as soon as the batch is planned.
    outer: SetOnce<(Weak<RunningBatch>, usize)>,
    run: Mutex<Run>,
    outcome: OnceLock<Arc<ApprovalOutcome>>,
}

#[derive(Default)]
struct Run {
    given_up: bool,
    begun: Option<(Weak<RunningBatch>, Arc<BatchControl>)>,
}

// === impl Waiting ===

impl Waiting {
    pub(crate) fn new(request: Arc<ApprovalRequest>, expires: Instant) -> Self {
        Self { request, expires, outer: SetOnce::new(), run: Mutex::default(), outcome: OnceLock::new() }
    }

    pub(crate) fn id(&self) -> &ApprovalId {
        &self.request.id
    }

    /// What is told of it when the call begins to wait.
    pub(crate) fn notice(&self) -> ApprovalNotice {
        ApprovalNotice::new(&self.request, self.expires.saturating_duration_since(Instant::now()))
    }

    /// Says which batch waits.
    pub(crate) fn attach(&self, outer: &Arc<RunningBatch>, place: usize) {
        self.outer.set((Arc::downgrade(outer), place)).ok();
    }

    /// The batch that waits, and the call's place in it.
    pub(crate) async fn outer(&self) -> Option<(Arc<RunningBatch>, usize)> {
        let (outer, place) = self.outer.wait().await;
        Some((outer.upgrade()?, *place))
    }

    /// Notes that the approved call is about to run. Of this and giving up, each sees the other: where the call was given
    /// up before, its run is cancelled and enters nothing.
    pub(crate) fn begin(&self, inner: &Arc<RunningBatch>, control: &Arc<BatchControl>) {
        let mut run = self.run();
        if run.given_up {
            control.cancel(CancelReason::Batch);
        }
        run.begun = Some((Arc::downgrade(inner), Arc::clone(control)));
    }

    /// Whether the approved call was about to run, and counts there.
    pub(crate) fn has_begun(&self) -> bool {
        self.run().begun.is_some()
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.run().given_up
    }

    /// Nobody waits any more: what is pending is withdrawn, what runs is cancelled. Says whether the tool was entered; if
    /// it was not, it never will be.
    pub(crate) fn give_up(&self, approvals: &Approvals) -> bool {
        let mut run = self.run();
        run.given_up = true;
        let begun = run.begun.clone();
        drop(run);
        let Some((inner, control)) = begun else {
            approvals.withdraw(self.id());
            return false;
        };
        // One that has ended may have done its work.
        let was_entered = inner.upgrade().is_none_or(|inner| inner.give_up_all());
        control.cancel(CancelReason::Batch);
        was_entered
    }

    pub(super) fn end(&self, outcome: Arc<ApprovalOutcome>) {
        self.outcome.set(outcome).ok();
    }

    /// Waits for what comes of it; `started` is called when the call begins to run. Nothing where it was forgotten.
    pub(crate) async fn follow(&self, approvals: &Approvals, started: impl FnOnce()) -> Option<Arc<ApprovalOutcome>> {
        let mut started = Some(started);
        let Some((_, _, changed)) = approvals.state(self.id().as_str()) else { return self.outcome.get().cloned() };
        loop {
            let mut told = pin!(changed.notified());
            told.as_mut().enable();
            if let Some(outcome) = self.outcome.get() {
                return Some(Arc::clone(outcome));
            }
            let (state, _, _) = approvals.state(self.id().as_str())?;
            if state == ApprovalState::Started
                && let Some(tell) = started.take()
            {
                tell();
            }
            tokio::select! {
                () = told => {}
                // The clock stops with the registry, this does not.
                () = tokio::time::sleep_until(self.expires), if state == ApprovalState::Pending => {
                    approvals.look(Instant::now());
                }
            }
        }
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("id", self.id()).finish_non_exhaustive()
    }
}

//! Control of a batch in flight from outside: cancelling it or one of its calls, and waiting for its outcome.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::task::AtomicWaker;
use tokio::sync::oneshot;

use super::BatchEvents;
use crate::call::{BatchId, CallId};
use crate::result::{BatchOutcome, ErrorCode};

/// A batch that runs in a task of the registry (see [`crate::ToolRegistry::start`]).
///
/// Dropping the handle leaves the batch running; its outcome is then lost.
#[derive(Debug)]
pub struct BatchHandle {
    pub(crate) id: BatchId,
    pub(crate) control: Arc<BatchControl>,
    pub(crate) events: BatchEvents,
    pub(crate) outcome: oneshot::Receiver<BatchOutcome>,
}

/// What a batch is told while it runs.
#[derive(Default)]
pub(crate) struct BatchControl {
    reason: AtomicU8,
    calls: Mutex<Vec<CallId>>,
    waker: AtomicWaker,
}

/// Why a whole batch is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CancelReason {
    Batch = 1,
    Session = 2,
    Shutdown = 3,
}

// === impl BatchHandle ===

impl BatchHandle {
    /// Id of the batch.
    pub fn id(&self) -> &BatchId {
        &self.id
    }

    /// What happens in the batch, as it happens. Ends with [`super::BatchEvent::BatchSettled`].
    pub fn events(&mut self) -> &mut BatchEvents {
        &mut self.events
    }

    /// Cancels every call that has not settled.
    pub fn cancel(&self) {
        self.control.cancel(CancelReason::Batch);
    }

    /// Cancels one call; its siblings go on. A call that has settled stays as it is.
    pub fn cancel_call(&self, call_id: &CallId) {
        self.control.cancel_call(call_id.clone());
    }

    /// Waits for the outcome. Gives nothing when the engine was torn down under the batch.
    ///
    /// Dropping the future leaves the batch running.
    pub async fn outcome(mut self) -> Option<BatchOutcome> {
        self.wait().await
    }

    /// As [`BatchHandle::outcome`], keeping the handle. The outcome comes once.
    pub async fn wait(&mut self) -> Option<BatchOutcome> {
        (&mut self.outcome).await.ok()
    }
}

// === impl BatchControl ===

impl BatchControl {
    /// Cancels the batch. The first reason stays.
    pub(crate) fn cancel(&self, reason: CancelReason) {
        self.reason.compare_exchange(0, reason as u8, Ordering::AcqRel, Ordering::Acquire).ok();
        self.waker.wake();
    }

    pub(crate) fn cancel_call(&self, call_id: CallId) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call_id);
        self.waker.wake();
    }

    /// Registers for news; look for them after this.
    pub(super) fn register(&self, waker: &std::task::Waker) {
        self.waker.register(waker);
    }

    pub(super) fn reason(&self) -> Option<CancelReason> {
        match self.reason.load(Ordering::Acquire) {
            0 => None,
            2 => Some(CancelReason::Session),
            3 => Some(CancelReason::Shutdown),
            _ => Some(CancelReason::Batch),
        }
    }

    pub(super) fn take_cancelled_calls(&self) -> Vec<CallId> {
        std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for BatchControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchControl").field("reason", &self.reason()).finish_non_exhaustive()
    }
}

// === impl CancelReason ===

impl CancelReason {
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::Batch => ErrorCode::CancelledBatch,
            Self::Session => ErrorCode::CancelledSession,
            Self::Shutdown => ErrorCode::CancelledShutdown,
        }
    }
}

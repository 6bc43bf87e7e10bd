//! Permits: how many calls may run at once, first come first served, with a bounded queue.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A limit on calls that run at once.
#[derive(Debug)]
pub(crate) struct Permits {
    semaphore: Arc<Semaphore>,
    waiting: AtomicUsize,
    max_queued: usize,
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

// === impl Permits ===

impl Permits {
    pub(crate) fn new(limit: NonZeroUsize, max_queued: usize) -> Self {
        let permits = limit.get().min(Semaphore::MAX_PERMITS);
        Self { semaphore: Arc::new(Semaphore::new(permits)), waiting: AtomicUsize::new(0), max_queued }
    }

    /// A permit without waiting, if one is free and nobody waits.
    pub(crate) fn try_acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.semaphore).try_acquire_owned().ok()
    }

    /// A permit in turn. Dropping the future leaves the queue.
    pub(crate) async fn acquire(self: Arc<Self>) -> Result<OwnedSemaphorePermit, QueueFull> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.max_queued {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(QueueFull);
        }
        let place = QueuePlace(&self);
        let permit = Arc::clone(&self.semaphore).acquire_owned().await;
        drop(place);
        permit.map_err(|_closed| QueueFull)
    }
}

struct QueuePlace<'a>(&'a Permits);

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

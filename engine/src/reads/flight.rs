//! Flights: reads that are under way, and who waits for them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use ahash::RandomState;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{CachedReads, ReadKey};
use crate::registry::PreparedTool;
use crate::result::CallResult;

/// Reads that are under way.
#[derive(Debug, Default)]
pub(super) struct Flights(HashMap<ReadKey, Arc<Flight>, RandomState>);

/// One read that is under way.
#[derive(Debug)]
struct Flight {
    key: ReadKey,
    tool: Weak<PreparedTool>,
    done: watch::Sender<Option<Arc<CallResult>>>,
    cancel: CancellationToken,
}

/// One of those that wait for a read. When the last of them leaves, the run is cancelled.
pub(crate) struct Seat {
    reads: Arc<CachedReads>,
    flight: Arc<Flight>,
    /// The run itself looks on; it does not keep itself going.
    counts: Option<watch::Receiver<Option<Arc<CallResult>>>>,
}

// === impl Flights ===

impl Flights {
    /// A seat in the read of this key. Says whether it is the first.
    pub(super) fn join(&mut self, reads: &Arc<CachedReads>, key: &ReadKey, tool: &Arc<PreparedTool>) -> (Seat, bool) {
        let current = self
            .0
            .get(key)
            .filter(|flight| Weak::as_ptr(&flight.tool) == Arc::as_ptr(tool) && !flight.cancel.is_cancelled());
        let is_first = current.is_none();
        let flight = current.cloned().unwrap_or_else(|| {
            let done = watch::Sender::new(None);
            let cancel = CancellationToken::new();
            Arc::new(Flight { key: key.clone(), tool: Arc::downgrade(tool), done, cancel })
        });
        if is_first {
            self.0.insert(key.clone(), Arc::clone(&flight));
        }
        let counts = Some(flight.done.subscribe());
        (Seat { reads: Arc::clone(reads), flight, counts }, is_first)
    }

    /// Takes a read off the list. Says whether it was still on it.
    pub(super) fn land(&mut self, seat: &Seat) -> bool {
        let is_current = self.0.get(&seat.flight.key).is_some_and(|flight| Arc::ptr_eq(flight, &seat.flight));
        if is_current {
            self.0.remove(&seat.flight.key);
        }
        is_current
    }
}

// === impl Seat ===

impl Seat {
    /// For the run.
    pub(crate) fn pilot(&self) -> Self {
        Self { reads: Arc::clone(&self.reads), flight: Arc::clone(&self.flight), counts: None }
    }

    /// Ends the run early.
    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.flight.cancel
    }

    /// What the run gave; nothing if it went away without a word.
    pub(crate) async fn result(&mut self) -> Option<Arc<CallResult>> {
        let receiver = self.counts.as_mut()?;
        let result = receiver.wait_for(Option::is_some).await.ok()?;
        result.clone()
    }

    pub(super) fn key(&self) -> &ReadKey {
        &self.flight.key
    }

    pub(super) fn tool(&self) -> &Weak<PreparedTool> {
        &self.flight.tool
    }

    pub(super) fn tell(&self, result: Arc<CallResult>) {
        self.flight.done.send_replace(Some(result));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(counts) = self.counts.take() else { return };
        // Seats are taken under the same lock: nobody is about to sit down.
        let mut state = self.reads.lock();
        drop(counts);
        if self.flight.done.receiver_count() == 0 {
            state.flights.land(self);
            self.flight.cancel.cancel();
        }
    }
}

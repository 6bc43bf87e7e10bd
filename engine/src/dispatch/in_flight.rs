//! The batches in flight, found by id or by session.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ahash::RandomState;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry as MapEntry;

use super::{BatchControl, CancelReason};
use crate::call::{BatchId, SessionKey};
use crate::engine::Engine;

/// Batches that can be found from outside while they run.
#[derive(Debug, Default)]
pub(crate) struct BatchesInFlight {
    by_id: DashMap<BatchId, Entry, RandomState>,
    count: AtomicUsize,
}

#[derive(Debug)]
struct Entry {
    session: Option<SessionKey>,
    control: Arc<BatchControl>,
}

/// A batch's place among those in flight; leaves when dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    engine: Arc<Engine>,
    id: BatchId,
}

// === impl BatchesInFlight ===

impl BatchesInFlight {
    /// Gives nothing when a batch with this id is in flight already.
    pub(crate) fn register(
        engine: &Arc<Engine>,
        id: BatchId,
        session: Option<SessionKey>,
        control: &Arc<BatchControl>,
    ) -> Option<Registered> {
        match engine.batches.by_id.entry(id.clone()) {
            MapEntry::Occupied(_) => None,
            MapEntry::Vacant(vacant) => {
                vacant.insert(Entry { session, control: Arc::clone(control) });
                engine.batches.count.fetch_add(1, Ordering::Relaxed);
                Some(Registered { engine: Arc::clone(engine), id })
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Cancels a batch. Says whether it was in flight.
    pub(crate) fn cancel(&self, id: &BatchId) -> bool {
        match self.by_id.get(id) {
            Some(entry) => {
                entry.control.cancel(CancelReason::Batch);
                true
            }
            None => false,
        }
    }

    /// Cancels every batch of a session. Says how many were in flight.
    pub(crate) fn cancel_session(&self, session: &SessionKey) -> usize {
        self.cancel_where(CancelReason::Session, |entry| entry.session.as_ref() == Some(session))
    }

    pub(crate) fn cancel_all(&self) -> usize {
        self.cancel_where(CancelReason::Shutdown, |_| true)
    }

    fn cancel_where(&self, reason: CancelReason, wanted: impl Fn(&Entry) -> bool) -> usize {
        let controls: Vec<_> = self
            .by_id
            .iter()
            .filter(|entry| wanted(entry.value()))
            .map(|entry| Arc::clone(&entry.value().control))
            .collect();
        controls.iter().for_each(|control| control.cancel(reason));
        controls.len()
    }
}

// === impl Registered ===

impl Drop for Registered {
    fn drop(&mut self) {
        self.engine.batches.by_id.remove(&self.id);
        self.engine.batches.count.fetch_sub(1, Ordering::Relaxed);
    }
}

//! Approvals: every approval of an engine. The steps that one can take are in `steps`.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ahash::RandomState;
use tokio::sync::{Notify, Semaphore, broadcast, watch};
use tokio::time::Instant;

use super::events::EVENT_ROOM;
use super::slot::Slot;
use super::{
    Approval, ApprovalEvents, ApprovalFilter, ApprovalId, ApprovalOutcome, ApprovalRecord, ApprovalState, ApprovalStore,
};
use crate::call::SessionKey;
use crate::limits::Limits;

/// Every approval of an engine.
pub(crate) struct Approvals {
    table: Mutex<Table>,
    pub(super) store: Option<Arc<dyn ApprovalStore>>,
    pub(super) max_kept: usize,
    pub(super) max_kept_bytes: usize,
    pub(super) ttl: Duration,
    events: broadcast::Sender<Arc<Approval>>,
    /// The clock has to look again.
    pub(super) timing: Notify,
    /// Something has to be kept.
    pub(super) unkept: Notify,
    /// Whether the store has been read.
    pub(super) restored: watch::Sender<bool>,
    /// Whose turn it is to write to the store.
    pub(super) writing: Semaphore,
}

/// What stands under the lock.
#[derive(Default)]
pub(super) struct Table {
    pub(super) by_id: HashMap<ApprovalId, Slot, RandomState>,
    /// Those that are not over.
    pub(super) open: usize,
    pub(super) open_bytes: usize,
    pub(super) open_by_session: HashMap<SessionKey, usize, RandomState>,
    /// Those that are over, from the oldest, and until when each is kept.
    pub(super) over: VecDeque<(Instant, ApprovalId)>,
    pub(super) over_bytes: usize,
    unkept: HashSet<ApprovalId, RandomState>,
}

// === impl Approvals ===

impl Approvals {
    pub(crate) fn new(limits: &Limits, store: Option<Arc<dyn ApprovalStore>>) -> Self {
        Self {
            table: Mutex::default(),
            restored: watch::Sender::new(store.is_none()),
            store,
            max_kept: limits.max_kept_approvals,
            max_kept_bytes: limits.max_kept_approval_bytes,
            ttl: limits.kept_approval_ttl,
            events: broadcast::Sender::new(EVENT_ROOM),
            timing: Notify::new(),
            unkept: Notify::new(),
            writing: Semaphore::new(1),
        }
    }

    pub(super) fn view(&self, id: &str) -> Option<Approval> {
        self.table().by_id.get(id).map(|slot| slot.view(Instant::now()))
    }

    /// The state, the outcome once there is one, until when it can be decided, and what tells of changes.
    pub(super) fn state(&self, id: &str) -> Option<(ApprovalState, Option<Arc<ApprovalOutcome>>, Arc<Notify>)> {
        let table = self.table();
        let slot = table.by_id.get(id)?;
        let outcome = slot.state.is_over().then(|| slot.outcome.clone()).flatten();
        Some((slot.state, outcome, Arc::clone(&slot.changed)))
    }

    /// Those that the filter wants, the oldest first.
    pub(super) fn list(&self, filter: &ApprovalFilter) -> Vec<Approval> {
        let (table, now) = (self.table(), Instant::now());
        let mut wanted: Vec<&Slot> = table.by_id.values().filter(|slot| filter.wants(slot)).collect();
        wanted.sort_by(|a, b| (a.request.created_at_ms, &a.request.id).cmp(&(b.request.created_at_ms, &b.request.id)));
        wanted.into_iter().take(filter.limit).map(|slot| slot.view(now)).collect()
    }

    /// What is kept of one now; nothing where it is to be forgotten. A change after this has to be kept anew.
    pub(super) fn record(&self, id: &ApprovalId) -> Option<ApprovalRecord> {
        let mut table = self.table();
        table.unkept.remove(id);
        table.by_id.get(id).map(Slot::record)
    }

    /// What has to be kept or forgotten in the store. The list is empty afterwards.
    pub(super) fn take_unkept(&self) -> Vec<ApprovalId> {
        std::mem::take(&mut self.table().unkept).into_iter().collect()
    }

    /// Notes that the store does not know one as it is.
    pub(super) fn mark_unkept(&self, id: &ApprovalId) {
        self.table().unkept.insert(id.clone());
        self.unkept.notify_one();
    }

    pub(super) fn subscribe(&self) -> ApprovalEvents {
        ApprovalEvents { changes: self.events.subscribe(), missed: 0 }
    }

    /// How many are pending, and how long the oldest of them has been.
    pub(crate) fn waiting(&self) -> (usize, Duration) {
        let table = self.table();
        let pending = || table.by_id.values().filter(|slot| slot.state == ApprovalState::Pending);
        let oldest = pending().map(|slot| slot.asked.elapsed()).max();
        (pending().count(), oldest.unwrap_or_default())
    }

    /// Tells everybody of a change.
    pub(super) fn tell(&self, table: &mut Table, id: &ApprovalId) {
        if let Some(slot) = table.by_id.get(id) {
            slot.changed.notify_waiters();
            if self.events.receiver_count() > 0 {
                self.events.send(Arc::new(slot.view(Instant::now()))).ok();
            }
        }
        self.changed(table, id);
    }

    pub(super) fn changed(&self, table: &mut Table, id: &ApprovalId) {
        if self.store.is_some() {
            table.unkept.insert(id.clone());
            self.unkept.notify_one();
        }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals").field("open", &self.table().open).finish_non_exhaustive()
    }
}

// === impl Table ===

impl Table {
    pub(super) fn insert(&mut self, slot: Slot) {
        self.open += 1;
        self.open_bytes += slot.bytes;
        if let Some(key) = &slot.request.session {
            *self.open_by_session.entry(key.clone()).or_default() += 1;
        }
        self.by_id.insert(slot.request.id.clone(), slot);
    }

    /// Counts one that is over.
    pub(super) fn close(&mut self, id: &ApprovalId, until: Instant) {
        let Some(slot) = self.by_id.get_mut(id) else { return };
        self.open -= 1;
        self.open_bytes -= slot.bytes;
        slot.bytes += slot.outcome.as_ref().map_or(0, |outcome| outcome.bytes());
        self.over_bytes += slot.bytes;
        if let Some(key) = &slot.request.session
            && let Some(open) = self.open_by_session.get_mut(key)
        {
            *open -= 1;
            if *open == 0 {
                self.open_by_session.remove(key);
            }
        }
        let at = self.over.partition_point(|(earlier, _)| *earlier <= until);
        self.over.insert(at, (until, id.clone()));
    }
}

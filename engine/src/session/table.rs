//! Sessions: every session that is in memory, and the way to those that are not.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ahash::RandomState;
use dashmap::DashMap;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Session, SessionRecord, SessionStore};
use crate::call::SessionKey;

/// Every session that is in memory.
#[derive(Debug)]
pub(crate) struct Sessions {
    by_key: DashMap<SessionKey, Arc<Session>, RandomState>,
    max: usize,
    /// When there are this many, room is made. More than `max` where too many are in use to be dropped.
    full_at: AtomicUsize,
    ttl: Duration,
    epoch: Instant,
    pub(super) store: Option<Arc<dyn SessionStore>>,
    /// Changed since they were last kept.
    dirty: Mutex<HashSet<SessionKey, RandomState>>,
    pub(super) changed: Notify,
}

// === impl Sessions ===

impl Sessions {
    pub(crate) fn new(max: usize, ttl: Duration, store: Option<Arc<dyn SessionStore>>) -> Self {
        Self {
            by_key: DashMap::default(),
            max,
            full_at: AtomicUsize::new(max),
            ttl,
            epoch: Instant::now(),
            store,
            dirty: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// The session, if it is in memory.
    pub(crate) fn get(&self, key: &SessionKey) -> Option<Arc<Session>> {
        self.by_key.get(key).map(|session| Arc::clone(&session))
    }

    /// The session, from memory, else from the store, else a new one.
    pub(crate) async fn open(&self, key: &SessionKey, now: Instant) -> Arc<Session> {
        let millis = self.millis(now);
        if let Some(session) = self.by_key.get(key) {
            session.use_at(millis);
            return Arc::clone(&session);
        }
        let fresh = self.restored(key, millis).await;
        self.add(key, fresh)
    }

    /// The session, from memory or from the store; nothing is made.
    pub(crate) async fn restore(&self, key: &SessionKey, now: Instant) {
        let Some(store) = self.store.as_ref().filter(|_| !self.by_key.contains_key(key)) else { return };
        match store.load(key).await {
            Ok(Some(record)) => drop(self.add(key, Session::restored(record, self.millis(now)))),
            Ok(None) => {}
            Err(error) => tracing::warn!(session = %key.session, %error, "the session's past cannot be read"),
        }
    }

    fn add(&self, key: &SessionKey, fresh: Session) -> Arc<Session> {
        if self.by_key.len() >= self.full_at.load(Ordering::Relaxed) {
            self.make_room();
        }
        // Of two that open it at once the first wins.
        Arc::clone(&self.by_key.entry(key.clone()).or_insert_with(|| Arc::new(fresh)))
    }

    async fn restored(&self, key: &SessionKey, now: u64) -> Session {
        let Some(store) = &self.store else { return Session::new(key.clone(), now) };
        match store.load(key).await {
            Ok(Some(record)) => Session::restored(record, now),
            Ok(None) => Session::new(key.clone(), now),
            Err(error) => {
                tracing::warn!(session = %key.session, %error, "the session's past cannot be read; its turn counts as tainted");
                let session = Session::new(key.clone(), now);
                session.turn().taint();
                session
            }
        }
    }

    /// Takes a session out of memory and out of the store's sight.
    pub(super) fn take(&self, key: &SessionKey) -> Option<Arc<Session>> {
        self.dirty().remove(key);
        self.by_key.remove(key).map(|(_, session)| session)
    }

    /// Notes that a session has to be kept anew.
    pub(crate) fn touch(&self, session: &Session) {
        if self.store.is_some() && self.dirty().insert(session.key.clone()) {
            self.changed.notify_one();
        }
    }

    /// What has to be kept: every session that changed, as it is now.
    pub(super) fn take_dirty(&self) -> Vec<SessionRecord> {
        let dirty = std::mem::take(&mut *self.dirty());
        dirty.iter().filter_map(|key| self.get(key)).map(|session| session.record()).collect()
    }

    /// Drops sessions that nobody has used for their time. One that is in use, or not kept yet, stays.
    pub(crate) fn purge(&self, now: Instant) {
        let limit = self.millis(now).saturating_sub(millis(self.ttl));
        self.drop_idle(|session| session.last_used() < limit);
    }

    /// Drops a sixteenth of the sessions, those that were idle longest, so that looking for them is rare.
    fn make_room(&self) {
        let mut ages: Vec<u64> = self.by_key.iter().map(|entry| entry.last_used()).collect();
        let share = (ages.len() / 16).min(ages.len().saturating_sub(1));
        if ages.is_empty() {
            return;
        }
        let (_, &mut limit, _) = ages.select_nth_unstable(share);
        self.drop_idle(|session| session.last_used() <= limit);
        let left = self.by_key.len() + self.max / 16;
        self.full_at.store(left.max(self.max), Ordering::Relaxed);
    }

    fn drop_idle(&self, is_idle: impl Fn(&Session) -> bool) {
        let dirty = self.dirty().clone();
        self.by_key.retain(|key, session| {
            let is_used = Arc::strong_count(session) > 1 || dirty.contains(key);
            is_used || !is_idle(session)
        });
    }

    fn dirty(&self) -> std::sync::MutexGuard<'_, HashSet<SessionKey, RandomState>> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn millis(&self, now: Instant) -> u64 {
        millis(now.saturating_duration_since(self.epoch))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

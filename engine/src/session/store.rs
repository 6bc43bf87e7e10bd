//! SessionStore: where sessions outlive the process.

use std::fmt;
use std::sync::Arc;

use ahash::RandomState;
use dashmap::DashMap;
use futures::future::BoxFuture;

use super::SessionRecord;
use crate::approval::{ApprovalId, ApprovalRecord, ApprovalStore};
use crate::call::SessionKey;

/// Keeps sessions beyond the life of the process and beyond their place in memory. Nothing of it is on the invoke path:
/// a session is loaded before its first batch, and written behind.
pub trait SessionStore: Send + Sync + fmt::Debug + 'static {
    /// The session, if it is kept.
    ///
    /// # Errors
    /// The store cannot be read; the session then starts anew with its turn tainted.
    fn load<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<SessionRecord>, StoreError>>;

    /// Keeps these sessions, all or none, in place of what was kept of them.
    ///
    /// # Errors
    /// The store cannot be written; the engine tries again.
    fn save(&self, records: Vec<SessionRecord>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Forgets a session.
    ///
    /// # Errors
    /// The store cannot be written.
    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Why a store cannot be used at this moment, in a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// Keeps sessions and approvals in memory, without a limit of its own: for tests, and for registries that are made anew in one process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: DashMap<SessionKey, SessionRecord, RandomState>,
    pub(crate) approvals: DashMap<ApprovalId, ApprovalRecord, RandomState>,
}

/// Where what outlives the process is kept; nothing is kept where there is no store.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    /// Sessions.
    pub sessions: Option<Arc<dyn SessionStore>>,
    /// Approvals.
    pub approvals: Option<Arc<dyn ApprovalStore>>,
}

// === impl MemoryStore ===

impl SessionStore for MemoryStore {
    fn load<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<SessionRecord>, StoreError>> {
        let record = self.sessions.get(key).map(|record| record.clone());
        Box::pin(std::future::ready(Ok(record)))
    }

    fn save(&self, records: Vec<SessionRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        for record in records {
            self.sessions.insert(record.key.clone(), record);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>> {
        self.sessions.remove(key);
        Box::pin(std::future::ready(Ok(())))
    }
}

//! ApprovalStore: where approvals outlive the process.

use std::fmt;

use futures::future::BoxFuture;

use super::{ApprovalId, ApprovalRecord};
use crate::session::{MemoryStore, StoreError};

/// Keeps approvals beyond the life of the process. What it is told to save must be there after a crash once the future
/// has come to its end: an approved call runs only after its record says `started`.
///
/// The engine saves one record of an approval at a time. A future that is dropped may have saved or not, and must not
/// save later.
pub trait ApprovalStore: Send + Sync + fmt::Debug + 'static {
    /// Everything that is kept.
    ///
    /// # Errors
    /// The store cannot be read; the engine tries again, and decides nothing that it does not know.
    fn load_all(&self) -> BoxFuture<'_, Result<Vec<ApprovalRecord>, StoreError>>;

    /// Keeps an approval, in place of what was kept of it.
    ///
    /// # Errors
    /// The store cannot be written. A call whose start cannot be kept does not run.
    fn save(&self, record: ApprovalRecord) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Forgets an approval.
    ///
    /// # Errors
    /// The store cannot be written; the engine tries again.
    fn forget<'a>(&'a self, id: &'a ApprovalId) -> BoxFuture<'a, Result<(), StoreError>>;
}

// === impl MemoryStore ===

impl ApprovalStore for MemoryStore {
    fn load_all(&self) -> BoxFuture<'_, Result<Vec<ApprovalRecord>, StoreError>> {
        let records = self.approvals.iter().map(|record| record.clone()).collect();
        Box::pin(std::future::ready(Ok(records)))
    }

    fn save(&self, record: ApprovalRecord) -> BoxFuture<'_, Result<(), StoreError>> {
        self.approvals.insert(record.request.id.clone(), record);
        Box::pin(std::future::ready(Ok(())))
    }

    fn forget<'a>(&'a self, id: &'a ApprovalId) -> BoxFuture<'a, Result<(), StoreError>> {
        self.approvals.remove(id);
        Box::pin(std::future::ready(Ok(())))
    }
}

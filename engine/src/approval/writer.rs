//! Keeping approvals in the store: one at a time, each as it is at that moment.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;

use super::{ApprovalId, ApprovalStore};
use crate::engine::Engine;
use crate::session::StoreError;

/// How long a store that cannot be written is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// Keeps an approval as it is now, within the time for control requests. Done where there is no store.
pub(super) async fn keep(engine: &Engine, id: &ApprovalId) -> Result<(), StoreError> {
    let Some(store) = &engine.approvals.store else { return Ok(()) };
    let kept = tokio::time::timeout(engine.limits.control_timeout, write(engine, store, id)).await;
    let kept = kept.unwrap_or_else(|_late| Err(StoreError("the store did not answer in time".to_owned())));
    if kept.is_err() {
        engine.approvals.mark_unkept(id);
    }
    kept
}

async fn write(engine: &Engine, store: &Arc<dyn ApprovalStore>, id: &ApprovalId) -> Result<(), StoreError> {
    // A record is read when its turn has come: an older one never lands on a newer one.
    let _turn = engine.approvals.writing.acquire().await;
    let written = async {
        match engine.approvals.record(id) {
            Some(record) => store.save(record).await,
            None => store.forget(id).await,
        }
    };
    let panicked = |_| Err(StoreError("the store panicked".to_owned()));
    AssertUnwindSafe(written).catch_unwind().await.unwrap_or_else(panicked)
}

/// Keeps what has changed for as long as it is polled.
pub(crate) async fn write_behind(engine: Arc<Engine>) {
    if engine.approvals.store.is_none() {
        return;
    }
    loop {
        engine.approvals.unkept.notified().await;
        if !flush(&engine).await {
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Keeps now what has not been kept. Says whether all of it could be.
pub(crate) async fn flush(engine: &Engine) -> bool {
    let mut all = true;
    for id in engine.approvals.take_unkept() {
        if let Err(error) = keep(engine, &id).await {
            tracing::warn!(%id, %error, "an approval cannot be kept; it is tried again");
            all = false;
        }
    }
    all
}

//! The clock of approvals: it restores them, ends those whose time is over or whose tool is gone, and forgets old ones.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::ApprovalStore;
use crate::engine::Engine;
use crate::text;

/// How long a store that cannot be read is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// Keeps the time of approvals for as long as it is polled.
pub(crate) async fn keep_time(engine: Arc<Engine>) {
    let restoring = async {
        if let Some(store) = &engine.approvals.store {
            restore(&engine, store).await;
        }
    };
    tokio::join!(restoring, watch(&engine));
}

async fn restore(engine: &Engine, store: &Arc<dyn ApprovalStore>) {
    let records = loop {
        match store.load_all().await {
            Ok(records) => break records,
            Err(error) => tracing::warn!(%error, "the approvals of an earlier life cannot be read; it is tried again"),
        }
        tokio::time::sleep(RETRY).await;
    };
    let now = Instant::now();
    for record in records {
        engine.approvals.restore(record, now);
    }
    engine.approvals.restored.send_replace(true);
    engine.approvals.timing.notify_one();
}

async fn watch(engine: &Engine) {
    let mut tables = engine.published.subscribe();
    loop {
        let next = engine.approvals.look(Instant::now());
        let due = async {
            match next {
                Some(next) => tokio::time::sleep_until(next).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = engine.approvals.timing.notified() => {}
            () = due => {}
            changed = tables.changed() => {
                if changed.is_ok() {
                    withdraw_gone(engine);
                }
            }
        }
    }
}

/// Nobody is asked about a tool that has been taken away. One that is not there yet may still come, and those of an
/// engine that closes come back in its next life.
fn withdraw_gone(engine: &Engine) {
    if engine.is_closing() {
        return;
    }
    let table = engine.table.load();
    engine.approvals.withdraw_where(|request| {
        let is_gone = table.find_tool(&request.tool_id).is_none() && table.was_removed(&request.model_name);
        is_gone.then(|| text::removed_tool(request.context.locale, &request.tool))
    });
}

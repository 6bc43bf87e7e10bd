//! Writing behind: sessions that changed are kept soon after, off the invoke path.

use std::sync::Arc;
use std::time::Duration;

use super::SessionStore;
use crate::engine::Engine;

/// How long changes gather before they are kept together.
const GATHER: Duration = Duration::from_millis(100);
/// How long a store that cannot be written is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// Keeps changed sessions for as long as it is polled.
pub(crate) async fn write_behind(engine: Arc<Engine>) {
    let Some(store) = &engine.sessions.store else { return };
    loop {
        engine.sessions.changed.notified().await;
        tokio::time::sleep(GATHER).await;
        if !save(&engine, store).await {
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Keeps now what has not been kept.
pub(crate) async fn flush(engine: &Engine) {
    if let Some(store) = &engine.sessions.store {
        save(engine, store).await;
    }
}

async fn save(engine: &Engine, store: &Arc<dyn SessionStore>) -> bool {
    let records = engine.sessions.take_dirty();
    if records.is_empty() {
        return true;
    }
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    let Err(error) = store.save(records).await else { return true };
    tracing::warn!(%error, sessions = keys.len(), "sessions cannot be kept; it is tried again");
    keys.iter().filter_map(|key| engine.sessions.get(key)).for_each(|session| engine.sessions.touch(&session));
    false
}

//! Subscriptions: how a server of revision 2026-07-28 is heard when its lists or resources change.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use toolyard::JsonText;

use super::connection::{Refusal, Request};
use super::session::Session;

/// Resources of one server that are listened for.
const MAX_RESOURCES: usize = 1_000;
/// Waiting until a subscription that ended is made again; twice as long each time.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What is listened for beside the lists.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    resources: Mutex<BTreeSet<String>>,
    changed: Notify,
}

// === impl Subscriptions ===

impl Subscriptions {
    /// What there is to listen to may have changed.
    pub(super) fn again(&self) {
        self.changed.notify_one();
    }

    /// Listens for a resource. Says whether there was room.
    pub(super) fn add(&self, uri: String) -> bool {
        let mut resources = lock(&self.resources);
        if resources.len() >= MAX_RESOURCES && !resources.contains(&uri) {
            return false;
        }
        if resources.insert(uri) {
            self.changed.notify_one();
        }
        true
    }

    pub(super) fn remove(&self, uri: &str) {
        if lock(&self.resources).remove(uri) {
            self.changed.notify_one();
        }
    }

    /// What to ask for, of what the server has; nothing where that is nothing.
    fn filter(&self, capabilities: &JsonText) -> Option<JsonText> {
        let capabilities: Value = capabilities.to().ok()?;
        let mut filter = Map::new();
        for (what, key) in
            [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")]
        {
            if capabilities[what]["listChanged"] == true {
                filter.insert(key.to_owned(), json!(true));
            }
        }
        let resources = lock(&self.resources);
        if !resources.is_empty() && capabilities["resources"]["subscribe"] == true {
            filter.insert("resourceSubscriptions".to_owned(), json!(*resources));
        }
        (!filter.is_empty()).then(|| json!({"notifications": filter}).into())
    }
}

/// Listens for as long as it is polled, and anew when a subscription ends or is to be another. What the server tells comes
/// as notifications; the request itself is answered only when it ends.
pub(super) async fn listen(session: Arc<Session>) {
    let Subscriptions { changed, .. } = &session.subscriptions;
    let mut wait = FIRST_WAIT;
    loop {
        let begun = Instant::now();
        let filter =
            session.is_modern().then(|| session.subscriptions.filter(&session.server().capabilities)).flatten();
        let Some(filter) = filter else {
            changed.notified().await;
            continue;
        };
        let request = Request {
            method: "subscriptions/listen".into(),
            params: |_id| session.connection.envelope().around(&filter),
            name: None,
            mirrored: Vec::new(),
            asker: None,
            cancels: true,
        };
        tokio::select! {
            () = changed.notified() => continue,
            answered = session.request(request) => if let Err(Refusal::Error(error)) = answered {
                tracing::debug!(provider = %session.provider, code = error.code, "the server refused a subscription");
                changed.notified().await;
                continue;
            },
        }
        wait = if begun.elapsed() > LONGEST_WAIT { FIRST_WAIT } else { (wait * 2).min(LONGEST_WAIT) };
        tokio::time::sleep(wait).await;
        // Nobody was told of what changed meanwhile.
        session.tools_changed.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

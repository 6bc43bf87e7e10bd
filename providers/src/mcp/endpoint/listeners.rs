//! Listeners: clients of 2026-07-28 that opened a stream with `subscriptions/listen`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use toolyard::JsonText;
use uuid::Uuid;

use super::error::RpcError;
use super::held::Outcome;
use super::line::Outlet;
use super::message::{Request, notification};
use super::peer::Peer;
use super::{Shared, resources};

/// Resources that one stream may watch.
const MAX_WATCHED: usize = 1_000;

/// What a client wants to hear.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Filter {
    #[serde(skip_serializing_if = "is_false")]
    pub(super) tools_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) resources_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resource_subscriptions: Vec<String>,
}

#[derive(Deserialize)]
struct ListenParams {
    notifications: Filter,
}

/// Every stream that is open.
#[derive(Debug)]
pub(super) struct Listeners {
    open: Mutex<HashMap<Uuid, Listener>>,
    max: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Listener {
    pub(super) tenant: Arc<str>,
    pub(super) filter: Arc<Filter>,
    id: JsonText,
    outlet: Outlet,
}

/// An open stream. Closed when this is dropped.
struct Open {
    shared: Arc<Shared>,
    peer: Peer,
    key: Uuid,
}

// serde's `skip_serializing_if` fixes this signature.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde fixes the signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Serves a stream until its client leaves or the endpoint closes.
pub(super) async fn listen(shared: &Arc<Shared>, request: &Request, peer: &Peer, outlet: &Outlet) -> Outcome {
    let ListenParams { notifications: mut filter } = request.read()?;
    filter.prompts_list_changed &= shared.offers(&["prompts"]);
    filter.resources_list_changed &= shared.offers(&["resources"]);
    if !shared.offers(&["resources", "subscribe"]) {
        filter.resource_subscriptions.clear();
    }
    filter.resource_subscriptions.truncate(MAX_WATCHED);
    let listener = Listener {
        tenant: Arc::clone(&peer.tenant),
        filter: Arc::new(filter),
        id: request.id.clone(),
        outlet: outlet.clone(),
    };
    let accepted = JsonText::from_serialize(&*listener.filter).unwrap_or_else(|_| JsonText::object([]));
    listener.tell("notifications/subscriptions/acknowledged", [("notifications", accepted)]);
    let filter = Arc::clone(&listener.filter);
    let open = Open { shared: Arc::clone(shared), peer: peer.clone(), key: shared.listeners.open(listener)? };
    for uri in &filter.resource_subscriptions {
        resources::pass_on(shared, peer, uri, "resources/subscribe").await.ok();
    }
    tokio::select! {
        () = shared.closed.cancelled() => {}
        () = outlet.closed() => {}
    }
    drop(open);
    let meta = JsonText::object([("io.modelcontextprotocol/subscriptionId", request.id.clone())]);
    Ok(JsonText::object([("resultType", JsonText::string("complete")), ("_meta", meta)]))
}

// === impl Listeners ===

impl Listeners {
    pub(super) fn new(max: usize) -> Self {
        Self { open: Mutex::default(), max }
    }

    fn open(&self, listener: Listener) -> Result<Uuid, RpcError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= self.max {
            return Err(RpcError::new(RpcError::UNAVAILABLE, "too many streams are open; try again later"));
        }
        let key = Uuid::new_v4();
        open.insert(key, listener);
        Ok(key)
    }

    pub(super) fn all(&self) -> Vec<Listener> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(super) fn watches(&self, uri: &str) -> bool {
        self.all().iter().any(|listener| listener.watches(uri))
    }
}

// === impl Listener ===

impl Listener {
    pub(super) fn watches(&self, uri: &str) -> bool {
        self.filter.resource_subscriptions.iter().any(|watched| watched == uri)
    }

    /// Says something on the stream, marked as belonging to it.
    pub(super) fn tell<const N: usize>(&self, method: &str, members: [(&str, JsonText); N]) {
        let meta = JsonText::object([("io.modelcontextprotocol/subscriptionId", self.id.clone())]);
        let params = JsonText::object(members.into_iter().chain([("_meta", meta)]));
        self.outlet.tell(notification(method, &params));
    }
}

// === impl Open ===

impl Drop for Open {
    fn drop(&mut self) {
        let closed = self.shared.listeners.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        let watched = closed.map(|closed| closed.filter).filter(|filter| !filter.resource_subscriptions.is_empty());
        let (Some(filter), Ok(runtime)) = (watched, tokio::runtime::Handle::try_current()) else { return };
        let (shared, peer) = (Arc::clone(&self.shared), self.peer.clone());
        drop(runtime.spawn(async move {
            for uri in filter.resource_subscriptions.iter().filter(|uri| !shared.is_watched(uri)) {
                resources::pass_on(&shared, &peer, uri, "resources/unsubscribe").await.ok();
            }
        }));
    }
}

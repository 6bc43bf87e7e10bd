//! What servers have beside tools, put together: every server is asked, in order; one that fails leaves only itself out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::time::Instant;
use toolyard::{HostPort, JsonText};

use super::error::RpcError;
use super::peer::Peer;
use crate::mcp::hub::{McpFeatures, McpHub, McpRequest};

/// Pages that one server may give for one list, and entries of one server.
const MAX_PAGES: usize = 100;
const MAX_ENTRIES: usize = 10_000;
/// Time for a server to give its list; its last one stands in for it when it takes longer.
const LIST_TIME: Duration = Duration::from_secs(5);
/// Time for a server to give anything else.
pub(super) const ASK_TIME: Duration = Duration::from_secs(60);
/// Lists that are remembered.
const MAX_REMEMBERED: usize = 4_096;

/// What one server listed.
pub(super) type Listing = Arc<Vec<JsonText>>;

/// The last list of each kind that each server gave, by tenant.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<HashMap<[Arc<str>; 3], Listing>>);

/// Whether a server declared a capability, such as `prompts` or `resources.subscribe`.
pub(super) fn has(features: &dyn McpFeatures, path: &[&str]) -> bool {
    let capabilities: Value = features.capabilities().to().unwrap_or_default();
    let found = path.iter().try_fold(&capabilities, |value, key| value.get(key));
    found.is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
}

/// A request in the name of this client.
pub(super) fn ask(method: &str, params: JsonText, peer: &Peer, host: Option<Arc<dyn HostPort>>) -> McpRequest {
    let (method, tenant) = (method.into(), Arc::clone(&peer.tenant));
    let session = peer.context.session_id.as_str().into();
    McpRequest { method, params, tenant, session, deadline: Instant::now() + ASK_TIME, host }
}

/// Asks one server. It has [`ASK_TIME`].
pub(super) async fn request(features: &dyn McpFeatures, request: McpRequest) -> Result<JsonText, RpcError> {
    let deadline = request.deadline;
    match tokio::time::timeout_at(deadline, features.request(request)).await {
        Ok(answer) => answer.map_err(RpcError::from),
        Err(_) => Err(RpcError::new(RpcError::UNAVAILABLE, "the server did not answer in time")),
    }
}

/// Everything that the servers with this capability list, in their order.
pub(super) async fn list_all(
    hub: &McpHub,
    remembered: &Remembered,
    peer: &Peer,
    capability: &str,
    method: &'static str,
    key: &'static str,
) -> Vec<(Arc<str>, Listing)> {
    let members = hub.members().into_iter().filter(|(_, features)| has(&**features, &[capability]));
    let listings = members.map(|(name, features)| async move {
        let place = [Arc::clone(&name), Arc::clone(&peer.tenant), Arc::from(method)];
        let listing = match tokio::time::timeout(LIST_TIME, list(&*features, peer, method, key)).await {
            Ok(Ok(listing)) => remembered.keep(place, listing),
            Ok(Err(error)) => {
                tracing::debug!(provider = %name, method, error = error.message(), "a server does not list");
                remembered.last(&place)
            }
            Err(_) => remembered.last(&place),
        };
        (name, listing)
    });
    join_all(listings).await
}

async fn list(
    features: &dyn McpFeatures,
    peer: &Peer,
    method: &'static str,
    key: &'static str,
) -> Result<Vec<JsonText>, RpcError> {
    let mut entries = Vec::new();
    let mut cursor: Option<JsonText> = None;
    for _ in 0..MAX_PAGES {
        let params = JsonText::object(cursor.clone().map(|cursor| ("cursor", cursor)));
        let page = request(features, ask(method, params, peer, None)).await?;
        let listed = page.member(key).and_then(|list| list.to::<Vec<JsonText>>().ok()).unwrap_or_default();
        // One that no client can read would cost it the whole page.
        entries.extend(listed.into_iter().filter(|entry| entry.check_readable().is_ok()));
        let next = page.member("nextCursor").filter(|next| next.as_str().starts_with('"'));
        if next.is_none() || next == cursor || entries.len() >= MAX_ENTRIES {
            break;
        }
        cursor = next;
    }
    entries.truncate(MAX_ENTRIES);
    Ok(entries)
}

/// Whether a refusal only says that this server does not have what was asked for.
pub(super) fn is_not_found(error: &RpcError) -> bool {
    matches!(error.code, RpcError::RESOURCE_NOT_FOUND | RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND)
}

// === impl Remembered ===

impl Remembered {
    fn keep(&self, place: [Arc<str>; 3], listing: Vec<JsonText>) -> Listing {
        let listing = Arc::new(listing);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_REMEMBERED && !all.contains_key(&place) {
            all.clear();
        }
        all.insert(place, Arc::clone(&listing));
        listing
    }

    fn last(&self, place: &[Arc<str>; 3]) -> Listing {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned().unwrap_or_default()
    }

    /// What was listed last, by server, without asking anybody.
    pub(super) fn known(&self, hub: &McpHub, tenant: &Arc<str>, method: &'static str) -> Vec<(Arc<str>, Listing)> {
        let names = hub.members().into_iter().map(|(name, _)| name);
        names
            .map(|name| {
                let listing = self.last(&[Arc::clone(&name), Arc::clone(tenant), Arc::from(method)]);
                (name, listing)
            })
            .collect()
    }
}

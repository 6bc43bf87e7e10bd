//! McpHub: what MCP servers have beside tools (prompts, resources, completion, logs), for whoever passes it on.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use indexmap::IndexMap;
use tokio::sync::broadcast;
use tokio::time::Instant;
use toolyard::{HostPort, JsonText, ToolFailure};

/// Events that wait for a slow listener; it is told how many it missed.
const EVENTS: usize = 256;

/// What one MCP server offers beside tools. The connection to a server does, and so may a provider in this process.
pub trait McpFeatures: Send + Sync + 'static {
    /// Its `capabilities`, as it gave them when the connection was opened, such as `{"prompts": {"listChanged": true}}`.
    fn capabilities(&self) -> JsonText;

    /// What it says of how to use it, for the model.
    fn instructions(&self) -> Option<String>;

    /// Asks it something that is no tool call: `prompts/list`, `prompts/get`, `resources/list`,
    /// `resources/templates/list`, `resources/read`, `resources/subscribe`, `resources/unsubscribe`,
    /// `completion/complete`, `logging/setLevel`. Dropping the future cancels the request.
    ///
    /// # Errors
    /// The server refused, or could not be asked.
    fn request(&self, request: McpRequest) -> BoxFuture<'_, Result<JsonText, McpRefusal>>;
}

/// One request to a server.
#[derive(Clone, Debug)]
pub struct McpRequest {
    /// The JSON-RPC method.
    pub method: Arc<str>,
    /// Its parameters, an object; `_meta` of the connection is added where the server's revision needs it.
    pub params: JsonText,
    /// For which tenant; empty where there is none. Servers may keep sessions of different tenants apart.
    pub tenant: Arc<str>,
    /// For which session of that tenant; empty where there is none.
    pub session: Arc<str>,
    /// When the answer is of no use any more.
    pub deadline: Instant,
    /// Who answers what the server asks meanwhile; nobody where absent.
    pub host: Option<Arc<dyn HostPort>>,
}

/// Why a request got no result.
#[derive(Clone, Debug)]
pub enum McpRefusal {
    /// The server answered with a JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data.
        data: Option<JsonText>,
    },
    /// The server could not be asked, or broke off.
    Failed(ToolFailure),
}

/// Something that a server says by itself.
#[derive(Clone, Debug)]
pub struct McpEvent {
    /// The provider.
    pub provider: Arc<str>,
    /// For which tenant's session it was said; absent for the one that all share.
    pub tenant: Option<Arc<str>>,
    /// What.
    pub kind: McpEventKind,
}

/// What servers say by themselves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum McpEventKind {
    /// Its prompts have changed, or the server has come or gone.
    PromptsChanged,
    /// Its resources have changed, or the server has come or gone.
    ResourcesChanged,
    /// A resource that somebody subscribed to was changed.
    ResourceUpdated {
        /// Its address.
        uri: String,
    },
    /// `notifications/message`: a line of its log, which belongs to no call. (What belongs to a call goes to the call's
    /// [`HostPort`] as `log.message`.)
    Log {
        /// The notification's parameters.
        params: JsonText,
    },
}

/// The servers that are connected now, in the order in which they were declared. Cloning shares it.
#[derive(Clone)]
pub struct McpHub(Arc<Inner>);

struct Inner {
    members: RwLock<IndexMap<Arc<str>, Option<Member>>>,
    events: broadcast::Sender<McpEvent>,
}

struct Member {
    features: Arc<dyn McpFeatures>,
    /// Tells incarnations of one provider apart.
    token: u64,
}

/// Keeps a server in the hub; it leaves when this is dropped.
#[derive(Debug)]
#[must_use = "the server leaves the hub when this is dropped"]
pub struct McpMembership {
    hub: McpHub,
    name: Arc<str>,
    token: u64,
}

// === impl McpHub ===

impl McpHub {
    /// An empty hub.
    pub fn new() -> Self {
        let members = RwLock::new(IndexMap::new());
        Self(Arc::new(Inner { members, events: broadcast::Sender::new(EVENTS) }))
    }

    /// Gives a provider its place in the order, before it is connected.
    pub fn declare(&self, name: &str) {
        self.0.members.write().unwrap_or_else(PoisonError::into_inner).entry(name.into()).or_default();
    }

    /// Takes a connected server in, in the place of the one that had this name.
    pub fn join(&self, name: &str, features: Arc<dyn McpFeatures>) -> McpMembership {
        static TOKENS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let token = TOKENS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name: Arc<str> = name.into();
        let member = Some(Member { features, token });
        self.0.members.write().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(&name), member);
        self.came_or_went(&name);
        McpMembership { hub: self.clone(), name, token }
    }

    /// Every connected server, in order.
    pub fn members(&self) -> Vec<(Arc<str>, Arc<dyn McpFeatures>)> {
        let members = self.0.members.read().unwrap_or_else(PoisonError::into_inner);
        let connected = members.iter().filter_map(|(name, member)| Some((name, member.as_ref()?)));
        connected.map(|(name, member)| (Arc::clone(name), Arc::clone(&member.features))).collect()
    }

    /// The connected server of this name.
    pub fn member(&self, name: &str) -> Option<Arc<dyn McpFeatures>> {
        let members = self.0.members.read().unwrap_or_else(PoisonError::into_inner);
        members.get(name)?.as_ref().map(|member| Arc::clone(&member.features))
    }

    /// Whether a declared server is not connected now.
    pub fn has_absent(&self) -> bool {
        self.0.members.read().unwrap_or_else(PoisonError::into_inner).values().any(Option::is_none)
    }

    /// What servers say from now on.
    pub fn events(&self) -> broadcast::Receiver<McpEvent> {
        self.0.events.subscribe()
    }

    /// Tells everybody who listens.
    pub fn tell(&self, event: McpEvent) {
        // Nobody listening is no fault.
        drop(self.0.events.send(event));
    }

    fn came_or_went(&self, name: &Arc<str>) {
        for kind in [McpEventKind::PromptsChanged, McpEventKind::ResourcesChanged] {
            self.tell(McpEvent { provider: Arc::clone(name), tenant: None, kind });
        }
    }
}

impl Default for McpHub {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for McpHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpHub")
    }
}

// === impl McpMembership ===

impl Drop for McpMembership {
    fn drop(&mut self) {
        let mut members = self.hub.0.members.write().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = members.get_mut(&self.name) else { return };
        if place.as_ref().is_some_and(|member| member.token == self.token) {
            *place = None;
            drop(members);
            self.hub.came_or_went(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Silent(&'static str);

    impl McpFeatures for Silent {
        fn capabilities(&self) -> JsonText {
            JsonText::object([("prompts", JsonText::object([]))])
        }

        fn instructions(&self) -> Option<String> {
            Some(self.0.to_owned())
        }

        fn request(&self, _request: McpRequest) -> BoxFuture<'_, Result<JsonText, McpRefusal>> {
            Box::pin(std::future::pending())
        }
    }

    fn said(hub: &McpHub) -> Vec<String> {
        hub.members().into_iter().filter_map(|(_, features)| features.instructions()).collect()
    }

    #[test]
    fn servers_keep_their_declared_order_and_an_old_incarnation_takes_no_new_one_with_it() {
        let hub = McpHub::new();
        hub.declare("a");
        hub.declare("b");
        let b = hub.join("b", Arc::new(Silent("b")));
        let first = hub.join("a", Arc::new(Silent("a1")));
        let second = hub.join("a", Arc::new(Silent("a2")));
        assert_eq!(said(&hub), ["a2", "b"]);
        drop(first);
        assert_eq!(said(&hub), ["a2", "b"]);
        let mut events = hub.events();
        drop(second);
        assert_eq!(said(&hub), ["b"]);
        assert!(matches!(events.try_recv().unwrap().kind, McpEventKind::PromptsChanged));
        drop(b);
        assert!(hub.members().is_empty());
    }
}

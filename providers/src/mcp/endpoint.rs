//! McpEndpoint: Toolyard as an MCP server, over HTTP and over standard input and output.
//!
//! A wire of our own, like the upstream's: what is relayed stays as its text from the server to the client. Both eras are
//! spoken on the same endpoint, and each request says itself of which it is.

mod body;
mod call;
mod changes;
mod conduct;
mod error;
mod features;
mod headers;
mod held;
mod host;
mod line;
mod listeners;
mod message;
mod meta;
mod mirror;
mod opening;
mod origin;
mod page;
mod peer;
mod prompts;
mod render;
mod resources;
mod service;
mod session;
mod sessions;
mod stdio;
#[cfg(test)]
mod tests;
mod tools;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio_util::task::AbortOnDropHandle;
use toolyard::{CallPolicy, CancellationToken, HostPort, JsonText, NameForm, ToolRegistry};

use self::body::Reply;
use self::error::RpcError;
use self::features::{Listing, Remembered};
use self::held::{HeldCalls, Outcome};
use self::line::Outlet;
use self::listeners::Listeners;
use self::message::{Notification, Request, response};
use self::meta::LogLevel;
use self::mirror::{Mirror, Mirrors};
use self::origin::Allowed;
use self::peer::Peer;
use self::session::Session;
use self::sessions::Sessions;
use super::hub::McpHub;

pub use self::body::McpBody;
pub use self::service::McpHttp;

/// The channel of calls that come in here.
const CHANNEL: &str = "mcp";

/// How the endpoint is configured.
#[derive(Clone, Debug)]
pub struct McpEndpointConfig {
    /// Sessions of clients of the older revisions, and subscription streams of the newer ones, at a time. Default 1,024.
    pub max_sessions: usize,
    /// How long a session may be idle before it ends. Default 10 min.
    pub session_idle: Duration,
    /// Requests that are served at once over HTTP. Default 4,096.
    pub max_requests: usize,
    /// Bytes of one message. Default 4 MiB.
    pub max_body_bytes: usize,
    /// Entries of one page of a list. Default 1,000.
    pub page_size: usize,
    /// Names by which this server may be called beside loopback ones, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may use it, such as `https://chat.example`.
    pub allowed_origins: Vec<String>,
    /// What clients are told of how to use it; what the servers behind it say where absent.
    pub instructions: Option<String>,
    /// How arguments are read.
    pub policy: CallPolicy,
    /// Headers of requests over HTTP that a server behind it may be configured to get. None where empty.
    pub forward_headers: Vec<http::HeaderName>,
    /// How each provider's names are made, as far as it is known: prompts are named like tools.
    pub name_forms: Vec<(String, NameForm)>,
}

/// Toolyard as an MCP server. Cloning shares it; the last clone to be dropped ends its sessions.
#[derive(Clone, Debug)]
pub struct McpEndpoint {
    shared: Arc<Shared>,
    tasks: Tasks,
}

/// Who sends a request over HTTP, as whoever asks for keys puts it into the request's extensions. Sessions are bound to
/// it.
#[derive(Clone, Debug, Default)]
pub struct McpPrincipal {
    /// The tenant; empty where there is only one.
    pub tenant: Arc<str>,
}

/// The tasks of an endpoint. They end with the last clone.
type Tasks = Arc<AbortOnDropHandle<()>>;

/// What every request can reach.
struct Shared {
    registry: ToolRegistry,
    hub: McpHub,
    /// Who answers what providers ask that is not MCP's.
    backend: Arc<dyn HostPort>,
    config: McpEndpointConfig,
    allowed: Allowed,
    sessions: Sessions,
    listeners: Listeners,
    held: HeldCalls,
    remembered: Remembered,
    mirrors: Mirrors,
    generation: watch::Receiver<u64>,
    room: Arc<Semaphore>,
    closed: CancellationToken,
}

// === impl McpEndpointConfig ===

impl Default for McpEndpointConfig {
    fn default() -> Self {
        Self {
            max_sessions: 1_024,
            session_idle: Duration::from_secs(600),
            max_requests: 4_096,
            max_body_bytes: 4 << 20,
            page_size: 1_000,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            instructions: None,
            policy: CallPolicy::default(),
            forward_headers: Vec::new(),
            name_forms: Vec::new(),
        }
    }
}

// === impl McpEndpoint ===

impl McpEndpoint {
    /// An endpoint for these tools and for what the servers in `hub` have beside tools. Needs a tokio runtime.
    ///
    /// `backend` answers what providers ask during a call that is no question of MCP's.
    pub fn new(registry: ToolRegistry, hub: McpHub, backend: Arc<dyn HostPort>, config: McpEndpointConfig) -> Self {
        let allowed = Allowed { hosts: config.allowed_hosts.clone(), origins: config.allowed_origins.clone() };
        let shared = Arc::new(Shared {
            generation: registry.tools_changes(),
            sessions: Sessions::new(config.max_sessions, config.session_idle),
            listeners: Listeners::new(config.max_sessions),
            held: HeldCalls::new(),
            remembered: Remembered::default(),
            mirrors: Mirrors::default(),
            room: Arc::new(Semaphore::new(config.max_requests)),
            closed: CancellationToken::new(),
            registry,
            hub,
            backend,
            config,
            allowed,
        });
        let tasks = tokio::spawn(changes::watch(Arc::clone(&shared)));
        Self { shared, tasks: Arc::new(AbortOnDropHandle::new(tasks)) }
    }

    /// The endpoint as a service for HTTP, to be mounted at one address.
    pub fn http(&self) -> McpHttp {
        McpHttp { shared: Arc::clone(&self.shared), _tasks: Arc::clone(&self.tasks) }
    }

    /// Serves one client over the process's standard input and output, until the input ends. Requests that are under way
    /// then are answered, as long as that takes no longer than `grace`.
    pub async fn serve_stdio(&self, grace: Duration) {
        stdio::serve(&self.shared, grace).await;
    }

    /// Ends every session, stream and waiting request. Calls in flight are the registry's to end.
    pub fn close(&self) {
        self.shared.closed.cancel();
        for session in self.shared.sessions.all() {
            self.shared.sessions.remove(&session);
        }
        self.shared.held.clear();
    }
}

// === impl Shared ===

impl Shared {
    /// Serves a request. Gives nothing when it was cancelled: nobody waits for an answer then.
    async fn answer(self: Arc<Self>, request: Request, peer: Peer, outlet: Outlet) -> Option<Reply> {
        let running = peer.session.as_ref().map(|session| session.enter(&request.id));
        let outcome = match &running {
            Some(running) => tokio::select! {
                biased;
                () = running.cancelled.cancelled() => return None,
                outcome = self.handle(&request, &peer, &outlet) => outcome,
            },
            None => self.handle(&request, &peer, &outlet).await,
        };
        let status = match &outcome {
            Err(error) if peer.is_modern() => error.status(),
            _ => 200,
        };
        Some(Reply { text: response(&request.id, &outcome), status })
    }

    async fn handle(self: &Arc<Self>, request: &Request, peer: &Peer, outlet: &Outlet) -> Outcome {
        let has = |capability: &str| self.offers(&[capability]);
        let is_modern = peer.is_modern();
        match &*request.method {
            "tools/call" => conduct::conduct(self, request, peer, outlet).await,
            "tools/list" => tools::list(self, request, peer),
            "prompts/list" if has("prompts") => prompts::list(self, request, peer).await,
            "prompts/get" if has("prompts") => conduct::conduct(self, request, peer, outlet).await,
            "resources/read" if has("resources") => conduct::conduct(self, request, peer, outlet).await,
            "resources/list" if has("resources") => {
                resources::list(self, request, peer, "resources/list", "resources", "uri").await
            }
            "resources/templates/list" if has("resources") => {
                let (method, key) = ("resources/templates/list", "resourceTemplates");
                resources::list(self, request, peer, method, key, "uriTemplate").await
            }
            "completion/complete" if has("completions") => resources::complete(self, request, peer).await,
            "server/discover" if is_modern => Ok(self.discover()),
            "subscriptions/listen" if is_modern => listeners::listen(self, request, peer, outlet).await,
            "resources/subscribe" | "resources/unsubscribe" if !is_modern && has("resources") => {
                resources::subscribe(self, request, peer).await
            }
            "logging/setLevel" if !is_modern => self.set_level(request, peer),
            "ping" if !is_modern => Ok(JsonText::object([])),
            method => Err(RpcError::method_not_found(method)),
        }
    }

    /// What a client of an older revision says without waiting for an answer.
    fn notified(&self, session: &Session, notification: &Notification) {
        if &*notification.method == "notifications/cancelled"
            && let Some(id) = notification.params.member("requestId")
        {
            session.cancel(&id);
        }
    }

    /// Ends a session with everything that runs for it.
    fn end(&self, session: &Session) {
        self.sessions.remove(session);
        self.registry.cancel_session(&session.key);
    }

    fn set_level(self: &Arc<Self>, request: &Request, peer: &Peer) -> Outcome {
        let level = request.params.member("level").and_then(|level| LogLevel::named(&level.text()?));
        let level = level.ok_or_else(|| RpcError::invalid_params("`level` is no level of a log"))?;
        if let Some(session) = &peer.session {
            session.set_log_level(level);
        }
        changes::pass_level_on(self, peer);
        Ok(JsonText::object([]))
    }

    async fn list(
        &self,
        peer: &Peer,
        capability: &str,
        method: &'static str,
        key: &'static str,
    ) -> Vec<(Arc<str>, Listing)> {
        features::list_all(&self.hub, &self.remembered, peer, capability, method, key).await
    }

    fn name_form(&self, provider: &str) -> NameForm {
        let known = self.config.name_forms.iter().find(|(name, _)| name == provider);
        known.map_or(NameForm::Qualified, |(_, form)| *form)
    }

    fn mirrors_of(&self, name: &str) -> Arc<[Mirror]> {
        let generation = *self.generation.borrow();
        self.mirrors.of(name, generation, &self.registry)
    }

    /// Whether anybody still wants to hear of a resource.
    fn is_watched(&self, uri: &str) -> bool {
        self.listeners.watches(uri) || self.sessions.all().iter().any(|session| session.is_subscribed(uri))
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpEndpoint")
    }
}

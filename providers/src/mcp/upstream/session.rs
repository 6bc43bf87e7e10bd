//! Session: one opened connection, with what its server said of itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, Notify};
use toolyard::{ErrorCode, HostPort, JsonText, ToolFailure};

use super::bridge::Bridge;
use super::config::McpOptions;
use super::connection::{Connection, Ears, Refusal, Request};
use super::handshake::{self, Server};
use super::secrets::Secrets;
use super::subscription::Subscriptions;
use super::transport::{Era, Inbox, SendFailure, Transport};
use crate::mcp::era::EraMemory;
use crate::mcp::hub::McpHub;

/// Time for a server that broke the handshake off to be found dead: that says more.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(500);

/// What a session needs to be opened.
#[derive(Clone)]
pub(super) struct Opening {
    pub(super) provider: Arc<str>,
    pub(super) options: McpOptions,
    pub(super) memory: Arc<EraMemory>,
    pub(super) hub: McpHub,
    /// Whose session it is; absent for the one that all share.
    pub(super) tenant: Option<Arc<str>>,
    /// Who answers what the server asks for no call.
    pub(super) host: Arc<dyn HostPort>,
    /// What the server must not say.
    pub(super) secrets: Secrets,
}

/// One opened connection to a server.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) provider: Arc<str>,
    pub(super) options: McpOptions,
    pub(super) connection: Connection,
    /// Notified when the server's tools have changed.
    pub(super) tools_changed: Arc<Notify>,
    pub(super) subscriptions: Subscriptions,
    server: ArcSwap<Server>,
    memory: Arc<EraMemory>,
    /// How often it was opened; held while it is opened again.
    openings: Mutex<u64>,
    opened: AtomicU64,
}

// === impl Session ===

impl Session {
    /// Opens a session over the transport that `dial` makes.
    ///
    /// # Errors
    /// There is no way to the server, or it does not complete the handshake.
    pub(super) async fn open<F>(
        opening: Opening,
        dial: impl FnOnce(Arc<dyn Inbox>) -> F,
    ) -> Result<Arc<Self>, ToolFailure>
    where
        F: Future<Output = Result<Arc<dyn Transport>, ToolFailure>>,
    {
        let Opening { provider, options, memory, hub, tenant, host, secrets } = opening;
        let tools_changed = Arc::new(Notify::new());
        let ears = Ears { hub, tenant, tools_changed: Arc::clone(&tools_changed), secrets };
        let bridge = Bridge::new(Arc::clone(&provider), options.clone());
        let connection = Connection::open(Arc::clone(&provider), bridge, ears, host, dial).await?;
        let server = introduce(&connection, &memory).await?;
        Ok(Arc::new(Self {
            provider,
            options,
            connection,
            tools_changed,
            subscriptions: Subscriptions::default(),
            server: ArcSwap::from_pointee(server),
            memory,
            openings: Mutex::new(0),
            opened: AtomicU64::new(0),
        }))
    }

    /// What the server said of itself.
    pub(super) fn server(&self) -> arc_swap::Guard<Arc<Server>> {
        self.server.load()
    }

    pub(super) fn is_modern(&self) -> bool {
        self.server.load().opened.era == Era::Modern
    }

    /// Whether calls say some of their arguments in headers too.
    pub(super) fn mirrors_arguments(&self) -> bool {
        self.connection.transport().mirrors_arguments() && self.is_modern()
    }

    /// Whether the server says that it has this, such as `tools`.
    pub(super) fn has(&self, capability: &str) -> bool {
        self.server.load().capabilities.member(capability).is_some()
    }

    /// Asks the server. A session that the server has forgotten is opened again, and the request sent once more.
    ///
    /// # Errors
    /// It refused, or did not answer.
    pub(super) async fn request<P: Fn(u64) -> JsonText>(&self, request: Request<P>) -> Result<JsonText, Refusal> {
        let Request { method, params, name, mirrored, asker, cancels } = request;
        let attempt = |last: bool| {
            let request = Request {
                method: Arc::clone(&method),
                params: &params,
                name: name.clone(),
                mirrored: mirrored.clone(),
                asker: asker.clone(),
                cancels,
            };
            async move {
                match self.connection.request(request).await {
                    // Sent while the session was being opened anew, it was none's: no word on the era.
                    Err(Refusal::Failed(SendFailure::SessionLost | SendFailure::WrongEra(_))) if last => Err(lost()),
                    answered => answered,
                }
            }
        };
        let opened = self.opened.load(Ordering::Acquire);
        match attempt(false).await {
            Err(Refusal::Failed(SendFailure::SessionLost | SendFailure::WrongEra(_))) => {
                self.open_again(opened).await?;
                attempt(true).await
            }
            answered => answered,
        }
    }

    /// Ready, with the reason, when the session is gone for good.
    pub(super) async fn ended(&self) -> String {
        self.connection.ended().await
    }

    /// Gives everything back.
    pub(super) async fn close(&self) {
        self.connection.close().await;
    }

    /// Only requests of a lost session meet here; the first opens it for all.
    async fn open_again(&self, seen: u64) -> Result<(), ToolFailure> {
        let mut openings = self.openings.lock().await;
        if *openings != seen {
            return Ok(());
        }
        let server = introduce(&self.connection, &self.memory).await?;
        tracing::info!(provider = %self.provider, "the server had forgotten the session; it was opened again");
        self.server.store(Arc::new(server));
        *openings += 1;
        self.opened.store(*openings, Ordering::Release);
        // It may be another server by now.
        self.tools_changed.notify_one();
        self.subscriptions.again();
        Ok(())
    }
}

async fn introduce(connection: &Connection, memory: &EraMemory) -> Result<Server, ToolFailure> {
    let introduced: BoxFuture<'_, _> = Box::pin(handshake::open(connection, memory));
    match introduced.await {
        Ok(server) => Ok(server),
        Err(mut failure) => {
            if let Ok(end) = tokio::time::timeout(LAST_WORDS, connection.ended()).await {
                return Err(ToolFailure::not_sent(ErrorCode::ProviderDown, end));
            }
            if !matches!(failure.code, ErrorCode::ProviderDown | ErrorCode::ProviderCrashed | ErrorCode::PolicyDenied) {
                // Whatever it is elsewhere, without a handshake there is no server.
                failure.code = ErrorCode::ProviderProtocol;
            }
            failure.message = format!("it did not complete the MCP handshake: {}", failure.message).into();
            Err(connection.secrets().hidden_in_failure(failure))
        }
    }
}

fn lost() -> Refusal {
    let message = "the server forgot the session again as soon as it was opened";
    ToolFailure::not_sent(ErrorCode::ProviderDown, message).into()
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening").field("provider", &self.provider).finish_non_exhaustive()
    }
}

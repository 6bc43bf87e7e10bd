//! HttpTransport: one service over streamable HTTP, or over the transport of 2024-11-05 where it speaks that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::Method;
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use toolyard::{ErrorCode, JsonText, ToolFailure};

use super::ask;
use super::config::{McpHttpConfig, McpWay};
use super::dialogue::{Agreed, Dialogue, INITIALIZE};
use super::link::{Letter, Link};
use super::listen;
use crate::http::Resolver;
use crate::mcp::upstream::sse::SseTransport;
use crate::mcp::upstream::transport::{Era, Inbox, Opened, Outgoing, OutgoingKind, SendFailure, Transport};

/// Time for a message to be accepted to which no answer is awaited.
const ACCEPT: Duration = Duration::from_secs(30);
/// Time to say goodbye.
const FAREWELL: Duration = Duration::from_secs(2);

/// One service over HTTP.
#[derive(Debug)]
pub(in crate::mcp::upstream) struct HttpTransport {
    shared: Arc<Shared>,
    /// Ends every task when the transport is dropped.
    _stop: DropGuard,
}

/// What the tasks of a transport share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) link: Arc<Link>,
    pub(super) inbox: Arc<dyn Inbox>,
    pub(super) max_message_bytes: usize,
    pub(super) dialogue: Dialogue,
    pub(super) tasks: TaskTracker,
    /// Cancelled when everything is to end.
    pub(super) stop: CancellationToken,
    way: McpWay,
    /// Requests that wait for their answers.
    flights: Mutex<HashMap<u64, CancellationToken>>,
    /// The transport of 2024-11-05, where that is what the service speaks.
    sse: OnceCell<SseTransport>,
    listener: Mutex<Option<AbortOnDropHandle<()>>>,
    gone: Gone,
}

/// Why a connection is gone for good, once it is.
#[derive(Clone, Debug)]
pub(in crate::mcp::upstream) struct Gone(watch::Sender<Option<String>>);

// === impl HttpTransport ===

impl HttpTransport {
    /// A transport to the service of this configuration, which gives what the service says to `inbox`. Nothing is sent
    /// yet. Must be made in a tokio runtime.
    ///
    /// # Errors
    /// The address is not allowed, or a value of the configuration cannot be read.
    pub(in crate::mcp::upstream) fn new(
        config: &McpHttpConfig,
        max_message_bytes: usize,
        resolver: Arc<dyn Resolver>,
        inbox: Arc<dyn Inbox>,
    ) -> Result<Self, ToolFailure> {
        let stop = CancellationToken::new();
        let shared = Shared {
            link: Arc::new(Link::new(config, resolver)?),
            inbox,
            max_message_bytes,
            dialogue: Dialogue::default(),
            tasks: TaskTracker::new(),
            stop: stop.clone(),
            way: config.way,
            flights: Mutex::default(),
            sse: OnceCell::new(),
            listener: Mutex::default(),
            gone: Gone::new(),
        };
        Ok(Self { shared: Arc::new(shared), _stop: stop.drop_guard() })
    }
}

impl Transport for HttpTransport {
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), SendFailure>> {
        let shared = Arc::clone(&self.shared);
        match message.kind {
            OutgoingKind::Request { id, .. } => {
                // An answer can take as long as it likes: nobody waits for it here.
                shared.fly(id, message);
                Box::pin(std::future::ready(Ok(())))
            }
            OutgoingKind::Other { .. } => Box::pin(async move {
                let told = tokio::time::timeout(ACCEPT, shared.tell(&message)).await;
                told.unwrap_or_else(|_elapsed| {
                    let message = format!("the server did not accept a message within {} s", ACCEPT.as_secs());
                    Err(SendFailure::Failed(ToolFailure::new(ErrorCode::ProviderCrashed, message)))
                })
            }),
        }
    }

    fn cancel(&self, id: u64, reason: &str) {
        match self.shared.land(id) {
            Some(flight) => flight.cancel(),
            // Over the transport of 2024-11-05, a request that was posted may still be answered.
            None if self.shared.sse.get().is_some() => {}
            None => return,
        }
        // In revision 2026-07-28 the end of the stream says it; before, only a message does, and none is said of a
        // handshake.
        let is_legacy = self.shared.dialogue.now().opened.is_some_and(|opened| opened.era == Era::Legacy);
        if is_legacy && !self.shared.stop.is_cancelled() {
            let (shared, message) = (Arc::clone(&self.shared), cancelled(id, reason));
            self.shared.spawn(async move {
                if let Err(error) = tokio::time::timeout(ACCEPT, shared.tell(&message)).await {
                    tracing::debug!(%error, "a cancellation was not accepted in time");
                }
            });
        }
    }

    fn opened(&self, opened: &Opened) {
        self.shared.dialogue.open(opened);
        let has_stream = opened.era == Era::Legacy && self.shared.sse.get().is_none();
        let listener = has_stream.then(|| {
            let shared = Arc::clone(&self.shared);
            AbortOnDropHandle::new(self.shared.spawn(async move { listen::listen(&shared).await }))
        });
        *self.shared.listener.lock().unwrap_or_else(PoisonError::into_inner) = listener;
    }

    fn mirrors_arguments(&self) -> bool {
        true
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        Box::pin(self.shared.gone.wait())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.shared.close())
    }
}

/// `notifications/cancelled`.
fn cancelled(id: u64, reason: &str) -> Outgoing {
    let method = "notifications/cancelled";
    let id = JsonText::from(serde_json::Value::from(id));
    let params = JsonText::object([("requestId", id), ("reason", JsonText::string(reason))]);
    let members = [("jsonrpc", JsonText::string("2.0")), ("method", JsonText::string(method)), ("params", params)];
    Outgoing { text: JsonText::object(members), kind: OutgoingKind::Other { method: Some(method.into()) } }
}

// === impl Shared ===

impl Shared {
    /// Sends a request in a task of its own, which ends with its answer, its cancellation or the transport.
    fn fly(self: &Arc<Self>, id: u64, message: Outgoing) {
        let flight = self.stop.child_token();
        self.flights.lock().unwrap_or_else(PoisonError::into_inner).insert(id, flight.clone());
        let shared = Arc::clone(self);
        self.spawn(async move {
            tokio::select! {
                biased;
                () = flight.cancelled() => {}
                asked = shared.ask(id, message) => {
                    if let Err(failed) = asked {
                        shared.inbox.fail(id, failed);
                    }
                }
            }
            shared.land(id);
        });
    }

    fn land(&self, id: u64) -> Option<CancellationToken> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    async fn ask(self: &Arc<Self>, id: u64, message: Outgoing) -> Result<(), SendFailure> {
        if self.way == McpWay::Sse {
            self.open_sse().await.map_err(SendFailure::Failed)?;
        }
        if let Some(sse) = self.sse.get() {
            return sse.post(&message).await;
        }
        let is_first = message.kind.method() == Some(INITIALIZE);
        if is_first {
            self.dialogue.forget();
        }
        let asked = ask::ask(self, id, &message).await;
        match asked {
            // A server of 2024-11-05 does not take a POST there.
            Err(SendFailure::WrongEra(reason)) if is_first && self.way == McpWay::Auto => {
                if let Err(failure) = self.open_sse().await {
                    tracing::debug!(%failure, "no transport of 2024-11-05 either");
                    return Err(SendFailure::WrongEra(reason));
                }
                match self.sse.get() {
                    Some(sse) => sse.post(&message).await,
                    None => Err(SendFailure::WrongEra(reason)),
                }
            }
            asked => asked,
        }
    }

    /// Sends a message to which no answer is awaited; ready when it was accepted.
    async fn tell(self: &Arc<Self>, message: &Outgoing) -> Result<(), SendFailure> {
        match self.sse.get() {
            Some(sse) => sse.post(message).await,
            None => ask::tell(self, message).await,
        }
    }

    async fn open_sse(&self) -> Result<(), ToolFailure> {
        let open = || SseTransport::open(&self.link, &self.inbox, self.max_message_bytes, self.gone.clone());
        self.sse.get_or_try_init(open).await.map(|_| ())
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> tokio::task::JoinHandle<()> {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            // Dropping what is left of a task is its end.
            stop.run_until_cancelled_owned(task).await;
        })
    }

    /// Whether a session that a stream was opened for is still the one that is spoken in.
    pub(super) fn is_current(&self, agreed: &Agreed) -> bool {
        self.dialogue.now().session == agreed.session
    }

    /// Whether anybody waits for an answer.
    pub(super) fn is_asking(&self) -> bool {
        !self.flights.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(super) fn end(&self, reason: &str) {
        self.gone.tell(reason);
    }

    async fn close(&self) {
        self.stop.cancel();
        drop(self.listener.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(sse) = self.sse.get() {
            sse.close();
        }
        let agreed = self.dialogue.now();
        if agreed.session.is_some() {
            let headers = agreed.of_every_request();
            let farewell = Letter { method: Method::DELETE, url: self.link.url().clone(), headers, body: None };
            // A server that keeps no sessions, or does not let them be ended, says so; that is as good.
            tokio::time::timeout(FAREWELL, self.link.send(farewell)).await.ok();
        }
        self.tasks.close();
        tokio::time::timeout(FAREWELL, self.tasks.wait()).await.ok();
        self.gone.tell("it was closed");
    }
}

// === impl Gone ===

impl Gone {
    fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// Only the first reason counts.
    pub(in crate::mcp::upstream) fn tell(&self, reason: &str) {
        self.0.send_if_modified(|told| {
            let is_first = told.is_none();
            told.get_or_insert_with(|| reason.to_owned());
            is_first
        });
    }

    async fn wait(&self) -> String {
        let mut told = self.0.subscribe();
        match told.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "it was closed".to_owned(),
        }
    }
}

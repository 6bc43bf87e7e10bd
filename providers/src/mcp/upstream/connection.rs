//! Connection: requests to one server and their answers, whatever carries them.

mod asker;
mod attendance;
mod board;
mod conversations;
mod count;
mod message;
mod pending;
mod salvage;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{ErrorCode, HostPort, JsonText, ToolFailure};

use super::bridge::{Behalf, Bridge, BridgedRequest};
use super::secrets::Secrets;
use super::transport::{Inbox, Outgoing, OutgoingKind, SendFailure, Transport};
use crate::mcp::envelope::Envelope;

pub(super) use asker::Asker;
pub(super) use board::{Board, Ears};
pub use count::describe_mcp_metrics;
pub(super) use message::{RpcError, ServerRequest};
pub(super) use salvage::reply_id_of_ends;

use attendance::attend;
use board::Errand;
use message::Reply;
use pending::Answer;

/// Answers to the server that may wait to be sent.
const ERRANDS: usize = 256;
/// How long a request may take that the server makes for no call.
const ASK_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to one server. Dropping it ends its tasks and its transport.
#[derive(Debug)]
pub(super) struct Connection {
    transport: Arc<dyn Transport>,
    board: Arc<Board>,
    envelope: ArcSwap<Envelope>,
    _tasks: [AbortOnDropHandle<()>; 3],
}

/// A request to the server.
pub(super) struct Request<P> {
    pub(super) method: Arc<str>,
    /// The parameters, made for the id that the request gets: a call's progress token is its id.
    pub(super) params: P,
    /// What `Mcp-Name` says.
    pub(super) name: Option<String>,
    /// What `Mcp-Param-*` says.
    pub(super) mirrored: Vec<(String, String)>,
    pub(super) asker: Option<Arc<Asker>>,
    /// Whether the server is told when nobody waits any more.
    pub(super) cancels: bool,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The server answered with an error.
    Error(RpcError),
    /// It did not answer, or with nonsense.
    Failed(SendFailure),
}

/// Gives a request up unless it was answered.
struct GiveUp<'a> {
    connection: &'a Connection,
    id: u64,
    asker: Option<&'a Asker>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The server has not heard of it, or is not to hear of its end.
    Unsent,
    Sent,
    Answered,
}

/// Does what no asker does.
struct Desk {
    board: Arc<Board>,
    transport: Arc<dyn Transport>,
    host: Arc<dyn HostPort>,
    errands: mpsc::Receiver<Errand>,
}

// === impl Connection ===

impl Connection {
    /// Opens the way to a server. What it asks for no call goes to `host`.
    ///
    /// # Errors
    /// The transport's own.
    pub(super) async fn open<F>(
        provider: Arc<str>,
        bridge: Bridge,
        ears: Ears,
        host: Arc<dyn HostPort>,
        dial: impl FnOnce(Arc<dyn Inbox>) -> F,
    ) -> Result<Self, ToolFailure>
    where
        F: Future<Output = Result<Arc<dyn Transport>, ToolFailure>>,
    {
        let (sender, errands) = mpsc::channel(ERRANDS);
        let board = Arc::new(Board::new(provider, bridge, ears, sender));
        let transport = dial(Arc::clone(&board) as Arc<dyn Inbox>).await?;
        let desk = Desk { board: Arc::clone(&board), transport: Arc::clone(&transport), host, errands };
        let (swept, watched, carrier) = (Arc::clone(&board), Arc::clone(&board), Arc::clone(&transport));
        let tasks = [
            tokio::spawn(desk.run()),
            tokio::spawn(async move { swept.pending.sweep().await }),
            tokio::spawn(async move {
                let reason = carrier.ended().await;
                watched.pending.end(&reason, || crashed(&reason));
            }),
        ];
        let tasks = tasks.map(AbortOnDropHandle::new);
        Ok(Self { transport, board, envelope: ArcSwap::default(), _tasks: tasks })
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request; nothing is waited for.
    ///
    /// # Errors
    /// The server refused, or did not answer.
    pub(super) async fn request(&self, request: Request<impl FnOnce(u64) -> JsonText>) -> Result<JsonText, Refusal> {
        let Request { method, params, name, mirrored, asker, cancels } = request;
        let (id, answer) = match self.board.pending.add(asker.clone()) {
            Ok(added) => added,
            Err(reason) => return Err(gone(&reason).into()),
        };
        self.board.counts.pending.increment(1.0);
        let mut give_up = GiveUp { connection: self, id, asker: asker.as_deref(), stage: Stage::Unsent };
        let text = message(Some(id), &method, params(id));
        let kind = OutgoingKind::Request { id, method, name, mirrored };
        if let Err(failure) = self.transport.send(Outgoing { text, kind }).await {
            return Err(Refusal::Failed(failure));
        }
        if cancels {
            give_up.stage = Stage::Sent;
        }
        let answer = match &asker {
            Some(asker) => attend(self, asker, answer).await,
            None => answer.await.map_err(|_gone| gone("its connection has ended")),
        };
        let answer = answer?;
        give_up.stage = Stage::Answered;
        answer.into_result()
    }

    /// Tells the server something.
    ///
    /// # Errors
    /// It could not be sent.
    pub(super) async fn notify(&self, method: &str, params: JsonText) -> Result<(), SendFailure> {
        let kind = OutgoingKind::Other { method: Some(method.into()) };
        self.transport.send(Outgoing { text: message(None, method, params), kind }).await
    }

    /// What every request says in its `_meta`.
    pub(super) fn envelope(&self) -> arc_swap::Guard<Arc<Envelope>> {
        self.envelope.load()
    }

    pub(super) fn set_envelope(&self, envelope: Envelope) {
        self.envelope.store(Arc::new(envelope));
    }

    pub(super) fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    pub(super) fn bridge(&self) -> &Bridge {
        &self.board.bridge
    }

    /// What nobody is to hear of what the server says.
    pub(super) fn secrets(&self) -> &Secrets {
        self.board.secrets()
    }

    /// Requests that wait for their answers.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        self.board.pending.len()
    }

    /// Requests that were given up and not acknowledged.
    #[cfg(test)]
    pub(super) fn given_up(&self) -> usize {
        self.board.pending.given_up()
    }

    /// Ready, with the reason, when the connection is gone for good.
    pub(super) async fn ended(&self) -> String {
        self.transport.ended().await
    }

    /// Whether the connection is gone for good.
    pub(super) fn is_over(&self) -> bool {
        self.board.pending.is_over()
    }

    /// Ends it: what still waits for an answer fails.
    pub(super) async fn close(&self) {
        self.board.pending.end("it was closed", || SendFailure::Failed(gone("it was closed")));
        self.transport.close().await;
    }
}

async fn answer(bridge: &Bridge, transport: &dyn Transport, bridged: BridgedRequest, behalf: Behalf<'_>) {
    if let Some(text) = bridge.answer(bridged, behalf).await {
        send(transport, text).await;
    }
}

async fn send(transport: &dyn Transport, text: JsonText) {
    if let Err(failure) = transport.send(Outgoing { text, kind: OutgoingKind::Other { method: None } }).await {
        tracing::debug!(?failure, "an answer did not reach its server");
    }
}

/// A whole message, on one line.
fn message(id: Option<u64>, method: &str, params: JsonText) -> JsonText {
    let version = ("jsonrpc", JsonText::string("2.0"));
    let (method, params) = (("method", JsonText::string(method)), ("params", params));
    match id {
        Some(id) => JsonText::object([version, ("id", id_text(id)), method, params]),
        None => JsonText::object([version, method, params]),
    }
}

/// A request's id as JSON.
pub(super) fn id_text(id: u64) -> JsonText {
    JsonText::from(serde_json::Value::from(id))
}

fn gone(reason: &str) -> ToolFailure {
    ToolFailure::not_sent(ErrorCode::ProviderCrashed, reason.to_owned())
}

fn crashed(reason: &str) -> SendFailure {
    SendFailure::Failed(ToolFailure::new(ErrorCode::ProviderCrashed, format!("{reason}; the outcome is unknown")))
}

// === impl Answer ===

impl Answer {
    fn into_result(self) -> Result<JsonText, Refusal> {
        match self {
            Self::Said(Reply::Result(result)) => Ok(result),
            Self::Said(Reply::Error(error)) => Err(Refusal::Error(error)),
            Self::Failed(failure) => Err(Refusal::Failed(failure)),
        }
    }
}

// === impl Refusal ===

impl From<ToolFailure> for Refusal {
    fn from(failure: ToolFailure) -> Self {
        Self::Failed(SendFailure::Failed(failure))
    }
}

// === impl GiveUp ===

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        let Connection { board, transport, .. } = self.connection;
        board.counts.pending.decrement(1.0);
        match self.stage {
            Stage::Answered => {}
            Stage::Unsent => board.pending.withdraw(self.id),
            Stage::Sent => {
                if board.pending.give_up(self.id, self.asker.and_then(Asker::hold)) {
                    transport.cancel(self.id, "nobody waits for it any more");
                }
            }
        }
    }
}

// === impl Desk ===

impl Desk {
    async fn run(self) {
        let Self { board, transport, host, mut errands } = self;
        let mut asked: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
        loop {
            tokio::select! {
                errand = errands.recv() => match errand {
                    Some(Errand::Send(text)) => send(&*transport, text).await,
                    Some(Errand::Answer(bridged)) => {
                        let deadline = Instant::now() + ASK_TIMEOUT;
                        let behalf = Behalf { host: &host, caller: None, deadline };
                        let answered = answer(&board.bridge, &*transport, bridged, behalf);
                        asked.push(Box::pin(answered));
                    }
                    None => return,
                },
                Some(()) = asked.next(), if !asked.is_empty() => {}
            }
        }
    }
}

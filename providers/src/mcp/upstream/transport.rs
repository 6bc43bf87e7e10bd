//! What carries JSON-RPC messages to a server and back.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{ErrorCode, JsonText, ToolFailure};

/// One way to one server: a child's pipes, or HTTP. It knows bytes, ids and headers, and nothing of what is said.
///
/// Whatever the server says is given to the [`Inbox`] that the transport was made with, never waited for in `send`.
pub(super) trait Transport: Send + Sync + fmt::Debug + 'static {
    /// Sends one message; ready when it is on its way (a line is queued, a POST has been begun). Dropping the future
    /// before gives the message up.
    ///
    /// # Errors
    /// Why it did not go.
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), SendFailure>>;

    /// Nobody waits for the answer to this request any more. Tells the server in the way of the transport and the era,
    /// and waits for nothing.
    fn cancel(&self, id: u64, reason: &str);

    /// The handshake is done: from now on messages are of this revision.
    fn opened(&self, opened: &Opened);

    /// Whether requests of revision 2026-07-28 say arguments in headers too, so that tools whose headers cannot be made
    /// are no tools.
    fn mirrors_arguments(&self) -> bool {
        false
    }

    /// Ready, with the reason, when the connection is gone for good.
    fn ended(&self) -> BoxFuture<'_, String>;

    /// Gives everything back. In bounded time.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Where a transport puts what a server says. Called from the transport's own task; must not block.
pub(super) trait Inbox: Send + Sync + fmt::Debug + 'static {
    /// One message, or what should have been one: it may be no JSON, no UTF-8, anything. `answering` is the request in
    /// whose own stream it came, where the transport knows.
    fn receive(&self, message: &[u8], answering: Option<u64>);

    /// A request that no answer will come to any more: its stream ended without one, its answer was too large.
    fn fail(&self, id: u64, failure: Failed);

    /// Noise was skipped; for the count.
    fn noise(&self, bytes: usize);
}

/// A message on its way to the server.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    /// The whole JSON-RPC message, on one line.
    pub(super) text: JsonText,
    /// What it is.
    pub(super) kind: OutgoingKind,
}

/// What a message is, as far as transports have to know.
#[derive(Clone, Debug)]
pub(super) enum OutgoingKind {
    /// A request; its answer is awaited.
    Request {
        id: u64,
        method: Arc<str>,
        /// What `Mcp-Name` says in revision 2026-07-28: the name of the tool or prompt, the address of the resource.
        name: Option<String>,
        /// `Mcp-Param-*` headers that mirror arguments (`x-mcp-header` in the tool's schema): name and value.
        mirrored: Vec<(String, String)>,
    },
    /// A notification, or the answer to a request of the server's.
    Other { method: Option<Arc<str>> },
}

/// What a handshake came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) era: Era,
    /// The revision, such as `2025-11-25`.
    pub(super) revision: Arc<str>,
}

/// The two ways in which MCP is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mcp) enum Era {
    /// Up to 2025-11-25: `initialize`, a session, requests in both directions.
    Legacy,
    /// From 2026-07-28: each request stands for itself.
    Modern,
}

/// Why a message did not go.
#[derive(Debug)]
pub(super) enum SendFailure {
    /// The server has forgotten the session (HTTP 404): open it again and send once more.
    SessionLost,
    /// The server does not speak this revision (HTTP 400 to a first request of 2026-07-28, 404 or 405 to a first POST).
    WrongEra(String),
    /// Anything else.
    Failed(ToolFailure),
}

/// Why a request gets no answer.
pub(super) type Failed = SendFailure;

// === impl SendFailure ===

impl SendFailure {
    /// The failure as the engine knows it.
    pub(super) fn into_failure(self) -> ToolFailure {
        match self {
            Self::SessionLost => ToolFailure::not_sent(ErrorCode::ProviderDown, "the server has forgotten the session"),
            Self::WrongEra(message) => ToolFailure::not_sent(ErrorCode::ProviderProtocol, message),
            Self::Failed(failure) => failure,
        }
    }
}

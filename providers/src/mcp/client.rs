//! McpClient: one connection to an MCP server, as a provider.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, ListToolsRequest, PaginatedRequestParams,
    ProtocolVersion,
};
use rmcp::service::{
    NotificationContext, Peer, RoleClient, RunningService, RunningServiceCancellationToken, ServiceError,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{
    CallContext, ErrorCode, InvokeResult, ProviderEvent, ProviderKind, Reason, ToolFailure, ToolInvocation,
    ToolProvider, ToolSpec,
};

use super::{KIND, wire};
use crate::process::ChildProcess;

/// Pages of one listing; a server that sends more is broken.
const MAX_PAGES: usize = 1_000;

/// One connection to an MCP server.
#[derive(Debug)]
pub(super) struct McpClient {
    name: String,
    peer: Peer<RoleClient>,
    child: ChildProcess,
    changed: Arc<Notify>,
    /// Cancelled when the connection has ended, whether the process has or not.
    disconnected: CancellationToken,
    /// Ends the connection; taken by the first close.
    hang_up: Mutex<Option<HangUp>>,
    _service: AbortOnDropHandle<()>,
}

/// rmcp's token has no `Debug`.
struct HangUp(RunningServiceCancellationToken);

/// Hears what a server says by itself.
#[derive(Clone, Debug)]
pub(super) struct Notifications {
    tools_changed: Arc<Notify>,
}

// === impl McpClient ===

impl McpClient {
    pub(super) fn new(
        name: &str,
        service: RunningService<RoleClient, Notifications>,
        child: ChildProcess,
        changed: Arc<Notify>,
    ) -> Self {
        let peer = service.peer().clone();
        let hang_up = HangUp(service.cancellation_token());
        let disconnected = CancellationToken::new();
        let ended = disconnected.clone().drop_guard();
        let service = tokio::spawn(async move {
            let _ended = ended;
            if let Err(error) = service.waiting().await {
                tracing::warn!(%error, "an MCP connection ended badly");
            }
        });
        Self {
            name: name.to_owned(),
            peer,
            child,
            changed,
            disconnected,
            hang_up: Mutex::new(Some(hang_up)),
            _service: AbortOnDropHandle::new(service),
        }
    }

    /// All pages, each tool by itself, so that one that cannot be read costs no other.
    async fn list(&self) -> Result<Vec<ToolSpec>, ToolFailure> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let answer = self.peer.send_request(request).await.map_err(|error| failure(&error))?;
            let page = wire::tools_page(answer)?;
            tools.extend(page.tools);
            match page.next_cursor {
                None => return Ok(tools),
                Some(next) if Some(&next) == cursor.as_ref() => {
                    return Err(protocol("it gives the same page of tools again and again"));
                }
                next => cursor = next,
            }
        }
        Err(protocol("its list of tools has no end"))
    }

    async fn call(self: Arc<Self>, invocation: ToolInvocation) -> InvokeResult {
        let params = wire::call_params(&invocation)?;
        match self.peer.call_tool_once(params).await {
            Ok(response) => wire::result(response),
            // The server is alive and refused: the model can act on what it says.
            Err(ServiceError::McpError(error)) => Ok(wire::refusal(&error)),
            Err(error) => Err(failure(&error)),
        }
    }
}

impl ToolProvider for McpClient {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        Box::pin(self.list())
    }

    /// Dropping the future sends `notifications/cancelled` and does not wait for anything.
    fn invoke(self: Arc<Self>, invocation: ToolInvocation, _context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Box::pin(self.call(invocation))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let hang_up = self.hang_up.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(HangUp(token)) = hang_up {
                token.cancel();
                self.disconnected.cancelled().await;
            }
            self.child.stop().await;
        })
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(async {
            tokio::select! {
                biased;
                reason = self.child.ended() => ProviderEvent::Ended(Reason(reason)),
                () = self.disconnected.cancelled() => {
                    ProviderEvent::Ended(Reason("its connection was closed".to_owned()))
                }
                () = self.changed.notified() => ProviderEvent::ToolsChanged,
            }
        })
    }
}

fn failure(error: &ServiceError) -> ToolFailure {
    match error {
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            ToolFailure::new(ErrorCode::ProviderCrashed, "the connection to the server is gone; the outcome is unknown")
        }
        other => ToolFailure::new(ErrorCode::ProviderProtocol, format!("the server answered wrongly: {other}")),
    }
}

fn protocol(message: &'static str) -> ToolFailure {
    ToolFailure::new(ErrorCode::ProviderProtocol, message)
}

impl std::fmt::Debug for HangUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HangUp")
    }
}

// === impl Notifications ===

impl Notifications {
    pub(super) fn new(tools_changed: Arc<Notify>) -> Self {
        Self { tools_changed }
    }
}

impl ClientHandler for Notifications {
    /// rmcp would offer the newest revision, which has no `initialize`, inside an `initialize`.
    fn get_info(&self) -> ClientConfig {
        let implementation = Implementation::new("toolyard", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), implementation)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

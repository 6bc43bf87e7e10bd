//! McpClient: one session with an MCP server, as a provider.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{
    CallContext, InvokeResult, ProviderEvent, ProviderKind, Reason, Remarks, ToolFailure, ToolInvocation, ToolProvider,
    ToolSpec,
};

use super::hub::{McpHub, McpMembership};
use super::session::Session;
use super::{KIND, call, listing, subscription};

/// One session with an MCP server.
#[derive(Debug)]
pub(super) struct McpClient {
    session: Arc<Session>,
    remarks: Mutex<Remarks>,
    /// Given back when the provider closes.
    joined: Mutex<Option<Joined>>,
}

/// What lasts as long as the session.
#[derive(Debug)]
struct Joined {
    _membership: McpMembership,
    _listener: AbortOnDropHandle<()>,
}

// === impl McpClient ===

impl McpClient {
    pub(super) fn new(session: Arc<Session>, hub: &McpHub) -> Self {
        let listener = tokio::spawn(subscription::listen(Arc::clone(&session)));
        let joined = Joined {
            _membership: hub.join(&session.provider, Arc::clone(&session) as _),
            _listener: AbortOnDropHandle::new(listener),
        };
        Self { session, remarks: Mutex::default(), joined: Mutex::new(Some(joined)) }
    }

    async fn list(&self) -> Result<Vec<ToolSpec>, ToolFailure> {
        let listing = listing::list(&self.session).await?;
        *self.remarks.lock().unwrap_or_else(PoisonError::into_inner) = listing.remarks;
        Ok(listing.tools)
    }
}

impl ToolProvider for McpClient {
    fn name(&self) -> &str {
        &self.session.provider
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        Box::pin(self.list())
    }

    fn remarks(&self) -> Remarks {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Dropping the future tells the server that the call is cancelled, and waits for nothing.
    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Box::pin(async move { call::call(&self.session, invocation, context).await })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            drop(self.joined.lock().unwrap_or_else(PoisonError::into_inner).take());
            self.session.close().await;
        })
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(async {
            tokio::select! {
                biased;
                reason = self.session.ended() => ProviderEvent::Ended(Reason(reason)),
                () = self.session.tools_changed.notified() => ProviderEvent::ToolsChanged,
            }
        })
    }
}

//! McpClient: one session with an MCP server, as a provider.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{
    CallContext, InvokeResult, ProviderEvent, ProviderKind, Reason, Remarks, ToolFailure, ToolInvocation, ToolProvider,
    ToolSpec,
};

use super::dialer::Dialer;
use super::pins::McpPins;
use super::session::Session;
use super::tenants::Tenants;
use super::{call, listing, subscription};
use crate::mcp::KIND;
use crate::mcp::hub::{McpFeatures, McpHub, McpMembership};

/// One session with an MCP server.
#[derive(Debug)]
pub(super) struct McpClient {
    session: Arc<Session>,
    tenants: Arc<Tenants>,
    pins: McpPins,
    /// Notified when a tool that was withheld is approved.
    approved: Arc<Notify>,
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
    /// With this session for whoever has none of his own; those of tenants are opened by `dialer`.
    pub(super) fn new(session: Arc<Session>, hub: &McpHub, dialer: Option<Dialer>, pins: McpPins) -> Self {
        let listener = tokio::spawn(subscription::listen(Arc::clone(&session)));
        let tenants = Arc::new(Tenants::new(Arc::clone(&session), dialer));
        let joined = Joined {
            _membership: hub.join(&session.provider, Arc::clone(&tenants) as _),
            _listener: AbortOnDropHandle::new(listener),
        };
        let approved = pins.approvals(&session.provider);
        Self { session, tenants, pins, approved, remarks: Mutex::default(), joined: Mutex::new(Some(joined)) }
    }

    async fn list(&self) -> Result<Vec<ToolSpec>, ToolFailure> {
        let mut listing = listing::list(&self.session).await?;
        let names = listing.tools.iter().map(|tool| tool.name.to_string());
        let declared = names.zip(std::mem::take(&mut listing.declared)).collect();
        let judgement = self.pins.judge(&self.session.provider, self.session.options.pins, declared).await;
        for (tool, withheld) in listing.tools.iter_mut().zip(judgement.withheld) {
            tool.withheld = withheld;
        }
        listing.remarks.warnings.extend(judgement.warnings);
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

    fn guide(&self) -> Option<String> {
        McpFeatures::instructions(&*self.session)
    }

    /// Dropping the future tells the server that the call is cancelled, and waits for nothing.
    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Box::pin(async move {
            let execution = context.execution();
            let assigned = self.tenants.session(&execution.tenant, &execution.session_id).await?;
            let called = call::call(assigned.session(), invocation, context).await;
            called.map_err(|failure| assigned.judged(failure))
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            drop(self.joined.lock().unwrap_or_else(PoisonError::into_inner).take());
            tokio::join!(self.tenants.close(), self.session.close());
        })
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(async {
            tokio::select! {
                biased;
                reason = self.session.ended() => ProviderEvent::Ended(Reason(reason)),
                () = self.session.tools_changed.notified() => ProviderEvent::ToolsChanged,
                () = self.approved.notified() => ProviderEvent::ToolsChanged,
            }
        })
    }
}

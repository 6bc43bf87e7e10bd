//! Tenants: which session a call or a request goes to.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{ErrorCode, JsonText, ToolFailure};

use super::config::{McpIsolation, McpTransport};
use super::dialer::Dialer;
use super::session::Session;
use super::sessions::{self, Lease, Sessions};
use super::subscription;
use crate::mcp::hub::{McpFeatures, McpRefusal, McpRequest};

/// The sessions with one server: the one that all share, which also lists, and those of tenants.
#[derive(Debug)]
pub(super) struct Tenants {
    shared: Arc<Session>,
    /// Absent where everybody shares.
    dialer: Option<Dialer>,
    is_per_session: bool,
    sessions: Sessions<TenantSession>,
}

/// A session of one tenant.
#[derive(Debug)]
pub(super) struct TenantSession {
    session: Arc<Session>,
    /// Its server is a process that nobody else has.
    has_own_process: bool,
    _listener: AbortOnDropHandle<()>,
}

/// The session to use. One of a tenant is not idle as long as this lives.
pub(super) enum Assigned {
    Shared(Arc<Session>),
    Own(Lease<TenantSession>),
}

// === impl Tenants ===

impl Tenants {
    pub(super) fn new(shared: Arc<Session>, dialer: Option<Dialer>) -> Self {
        let options = &shared.options;
        let dialer = dialer.filter(|_| options.isolation != McpIsolation::Shared);
        let is_per_session = options.isolation == McpIsolation::Session;
        let sessions = Sessions::new(options.max_sessions, options.session_idle());
        Self { shared, dialer, is_per_session, sessions }
    }

    /// The tenant's session, or that of the conversation; opened where there is none.
    ///
    /// # Errors
    /// It cannot be opened, or too many tenants have one.
    pub(super) async fn session(&self, tenant: &str, session_id: &str) -> Result<Assigned, ToolFailure> {
        let own = if self.is_per_session { session_id } else { "" };
        let is_own = !tenant.is_empty() || !own.is_empty();
        let Some(dialer) = self.dialer.as_ref().filter(|_| is_own) else {
            return Ok(Assigned::Shared(Arc::clone(&self.shared)));
        };
        let key = if own.is_empty() { tenant.to_owned() } else { format!("{tenant}\n{own}") };
        let open = || async {
            let tenant = Some(tenant).filter(|tenant| !tenant.is_empty()).map(Arc::from);
            let session = dialer.open(tenant).await.map_err(of_this_tenant)?;
            let listener = tokio::spawn(subscription::listen(Arc::clone(&session)));
            let has_own_process = matches!(dialer.config.transport, McpTransport::Stdio(_));
            Ok(Arc::new(TenantSession { session, has_own_process, _listener: AbortOnDropHandle::new(listener) }))
        };
        self.sessions.get(&key, open).await.map(Assigned::Own)
    }

    /// Closes the sessions of all tenants.
    pub(super) async fn close(&self) {
        self.sessions.close().await;
    }
}

/// That one tenant gets no session says nothing of the others: it does not count against the server.
fn of_this_tenant(mut failure: ToolFailure) -> ToolFailure {
    failure.code = ErrorCode::ToolUnavailable;
    failure.message = format!("no session can be opened for this tenant: {}", failure.message).into();
    failure
}

impl McpFeatures for Tenants {
    fn capabilities(&self) -> JsonText {
        self.shared.capabilities()
    }

    fn instructions(&self) -> Option<String> {
        self.shared.instructions()
    }

    fn request(&self, request: McpRequest) -> BoxFuture<'_, Result<JsonText, McpRefusal>> {
        Box::pin(async move {
            let assigned = self.session(&request.tenant, "").await.map_err(McpRefusal::Failed)?;
            McpFeatures::request(assigned.session(), request).await
        })
    }
}

// === impl TenantSession ===

impl sessions::Session for TenantSession {
    fn is_over(&self) -> bool {
        self.session.connection.is_over()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.session.close())
    }
}

// === impl Assigned ===

impl Assigned {
    pub(super) fn session(&self) -> &Session {
        match self {
            Self::Shared(session) => session,
            Self::Own(lease) => &lease.session().session,
        }
    }

    /// A failure as it counts: the end of a process that only this tenant has says nothing of the others'.
    pub(super) fn judged(&self, mut failure: ToolFailure) -> ToolFailure {
        if let Self::Own(lease) = self
            && lease.session().has_own_process
            && matches!(failure.code, ErrorCode::ProviderCrashed | ErrorCode::ProviderDown)
        {
            failure.code = ErrorCode::ToolUnavailable;
        }
        failure
    }
}

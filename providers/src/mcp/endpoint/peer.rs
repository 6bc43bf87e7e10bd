//! Peer: who asks, and in which era.

use std::sync::Arc;

use toolyard::ToolExecutionContext;

use super::meta::{ClientCapabilities, LogLevel};
use super::session::Session;

/// Who asks. One value serves one request.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) tenant: Arc<str>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) context: Arc<ToolExecutionContext>,
    /// The session, for the revisions that have one.
    pub(super) session: Option<Arc<Session>>,
    /// Lines of this level and above are wanted, in the revision where each request says so.
    log_level: Option<LogLevel>,
}

// === impl Peer ===

impl Peer {
    pub(super) fn legacy(session: Arc<Session>) -> Self {
        Self {
            tenant: Arc::clone(&session.key.tenant),
            capabilities: session.capabilities,
            context: Arc::clone(&session.context),
            session: Some(session),
            log_level: None,
        }
    }

    pub(super) fn modern(tenant: &Arc<str>, capabilities: ClientCapabilities, log_level: Option<LogLevel>) -> Self {
        let context = ToolExecutionContext {
            tenant: tenant.to_string(),
            channel: super::CHANNEL.to_owned(),
            ..ToolExecutionContext::default()
        };
        Self { tenant: Arc::clone(tenant), capabilities, context: Arc::new(context), session: None, log_level }
    }

    /// Whether each of its requests stands for itself.
    pub(super) const fn is_modern(&self) -> bool {
        self.session.is_none()
    }

    /// Whether a line of this level is wanted.
    pub(super) fn wants_line(&self, level: LogLevel) -> bool {
        match &self.session {
            // Who never said anything gets everything.
            Some(session) => session.log_level().is_none_or(|wanted| level >= wanted),
            None => self.log_level.is_some_and(|wanted| level >= wanted),
        }
    }
}

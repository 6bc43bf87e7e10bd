//! What a context provider is, and what it is asked.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::PluginStore;
use crate::call::{SessionKey, ToolExecutionContext};
use crate::provider::HostPort;

/// Says before a turn what its plugin knows about it.
pub trait ContextProvider: Send + Sync + 'static {
    /// Its name, that of its plugin where it has one: policy goes by it.
    fn name(&self) -> &str;

    /// What the model should know; nothing is a good answer. Runs in a task of its own; dropping the future gives up,
    /// which the engine does at [`ContextQuery::deadline`]. Panics are caught.
    fn context(self: Arc<Self>, query: ContextQuery) -> BoxFuture<'static, Option<String>>;
}

/// What a turn is about to be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ContextRequest {
    /// What the user said.
    pub text: Arc<str>,
    /// Where the turn takes place, and for whom.
    pub context: Arc<ToolExecutionContext>,
    /// Its session.
    pub session: Option<SessionKey>,
}

/// What a context provider is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContextQuery {
    /// What the user said.
    pub text: Arc<str>,
    /// Where the turn takes place, and for whom.
    pub context: Arc<ToolExecutionContext>,
    /// Its session.
    pub session: Option<SessionKey>,
    /// What the plugin has noted for itself.
    pub store: PluginStore,
    /// The bot backend.
    pub host: Arc<dyn HostPort>,
    /// When an answer is of no use any more.
    pub deadline: Instant,
}

// === impl ContextRequest ===

impl ContextRequest {
    /// A turn that begins with this text, in this context.
    pub fn new(text: impl Into<Arc<str>>, context: Arc<ToolExecutionContext>) -> Self {
        Self { text: text.into(), context, session: None }
    }

    /// The same turn of this session.
    #[must_use]
    pub fn of_session(mut self, session: SessionKey) -> Self {
        self.session = Some(session);
        self
    }
}

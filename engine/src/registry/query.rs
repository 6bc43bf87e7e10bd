//! ToolQuery: for whom tools are listed.

use std::sync::Arc;

use crate::call::{SessionKey, ToolExecutionContext};
use crate::engine::Engine;
use crate::gate::{Caller, InContext};
use crate::policy::Policy;
use crate::session::SessionView;

/// For whom tools are listed. A context alone stands for a caller without a session, to whom all tools count as loaded.
#[derive(Clone, Copy, Debug)]
pub struct ToolQuery<'a> {
    /// Who asks, and from where.
    pub context: &'a ToolExecutionContext,
    /// The session: deferred tools are listed once it has loaded them. One that is not in memory has loaded none.
    pub session: Option<&'a SessionKey>,
}

// === impl ToolQuery ===

impl<'a> ToolQuery<'a> {
    /// The tools of this session.
    pub fn of_session(context: &'a ToolExecutionContext, session: &'a SessionKey) -> Self {
        Self { context, session: Some(session) }
    }

    pub(crate) fn caller<'p>(&self, engine: &Engine, policy: &'p Policy) -> Caller<'p>
    where
        'a: 'p,
    {
        let session = self.session.and_then(|key| engine.sessions.get(key));
        let filled = session.and_then(|session| session.profile().fill(self.context));
        let view = self.session.map(|key| SessionView::of(&engine.sessions, key));
        let context = match filled {
            Some(filled) => InContext::Filled(Box::new(filled)),
            None => InContext::Given(self.context),
        };
        Caller::in_context(context, policy, view).among(engine.table.load().findable)
    }
}

impl<'a> From<&'a ToolExecutionContext> for ToolQuery<'a> {
    fn from(context: &'a ToolExecutionContext) -> Self {
        Self { context, session: None }
    }
}

impl<'a> From<&'a Arc<ToolExecutionContext>> for ToolQuery<'a> {
    fn from(context: &'a Arc<ToolExecutionContext>) -> Self {
        Self::from(&**context)
    }
}

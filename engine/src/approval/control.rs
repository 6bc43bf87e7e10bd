//! ApprovalControl: approvals, as whoever shows them to people lists and decides them.

use std::pin::pin;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::record::unix_millis;
use super::run::carry_out;
use super::slot::Slot;
use super::{
    Approval, ApprovalDecision, ApprovalError, ApprovalEvents, ApprovalRequest, ApprovalScope, ApprovalState, writer,
};
use crate::engine::Engine;
use crate::session::StoreError;
use crate::text;

/// Characters of what people write that are kept.
const MAX_WRITTEN: usize = 1000;

/// The approvals of an engine, by [`crate::ToolRegistry::approvals`].
///
/// Whoever has this decides for everybody: it checks no rights of its own. Ids are not to be guessed, and a filter keeps
/// tenants apart.
#[derive(Clone, Debug)]
pub struct ApprovalControl {
    engine: Arc<Engine>,
}

/// Which approvals are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Those of this tenant.
    pub tenant: Option<String>,
    /// Those of this session.
    pub session: Option<String>,
    /// Those that stand like this. Default pending; nothing is all.
    pub state: Option<ApprovalState>,
    /// At most so many, the oldest first. Default 100.
    pub limit: usize,
}

// === impl ApprovalControl ===

impl ApprovalControl {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// The approvals that the filter wants, the oldest first.
    ///
    /// # Errors
    /// The store has not been read yet, so that some would be missing.
    pub async fn list(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, ApprovalError> {
        self.ready().await?;
        Ok(self.engine.approvals.list(filter))
    }

    /// One approval, with its outcome once it is over.
    ///
    /// # Errors
    /// There is none with this id, or the store has not been read yet.
    pub async fn get(&self, id: &str) -> Result<Approval, ApprovalError> {
        self.ready().await?;
        self.view(id)
    }

    /// Agrees to a call. It runs once, in a task of the engine: with the arguments that were shown, in its context, through
    /// every gate but this one and discovery, within its tool's own time. Returns when it is sure to run; see
    /// [`ApprovalControl::outcome`]. Dropping the future changes nothing of what was decided.
    ///
    /// # Errors
    /// It is decided or over, its tool is not there at this moment, or its start cannot be kept. Nothing ran then.
    pub async fn approve(&self, id: &str, by: &str) -> Result<Approval, ApprovalError> {
        self.agree(id, by, ApprovalScope::Call).await
    }

    /// Agrees to a call, and to later calls of its tool in its session. Those run unasked as far as the tool's effect is
    /// concerned: what is forbidden stays so, and in a tainted turn a person is asked all the same. Ends with the session.
    ///
    /// # Errors
    /// As [`ApprovalControl::approve`], and where the call has no session.
    pub async fn approve_for_session(&self, id: &str, by: &str) -> Result<Approval, ApprovalError> {
        self.agree(id, by, ApprovalScope::Session).await
    }

    /// Declines a call; the model is told the reason.
    ///
    /// # Errors
    /// It is decided or over.
    pub async fn deny(&self, id: &str, by: &str, reason: Option<&str>) -> Result<Approval, ApprovalError> {
        self.ready().await?;
        let id = self.engine.approvals.deny(id, decision(by, reason, ApprovalScope::Call))?;
        if let Err(error) = writer::keep(&self.engine, &id).await {
            tracing::warn!(%id, %error, "a denial cannot be kept yet; it holds, and is tried again");
        }
        self.view(id.as_str())
    }

    /// Waits until an approval is over: its call has run, or never will. Dropping the future changes nothing.
    ///
    /// # Errors
    /// There is none with this id, it was forgotten, or the registry closes.
    pub async fn outcome(&self, id: &str) -> Result<Approval, ApprovalError> {
        self.ready().await?;
        let unknown = || ApprovalError::Unknown(id.to_owned());
        let (_, _, changed) = self.engine.approvals.state(id).ok_or_else(unknown)?;
        loop {
            let mut told = pin!(changed.notified());
            told.as_mut().enable();
            let approval = self.view(id)?;
            if approval.state.is_over() {
                return Ok(approval);
            }
            if approval.state != ApprovalState::Pending {
                told.await;
            } else if self.engine.closes.run_until_cancelled(told).await.is_none() {
                return Err(ApprovalError::Closed);
            }
        }
    }

    /// Every change of every approval from now on.
    pub fn events(&self) -> ApprovalEvents {
        self.engine.approvals.subscribe()
    }

    async fn agree(&self, id: &str, by: &str, scope: ApprovalScope) -> Result<Approval, ApprovalError> {
        self.ready().await?;
        if self.engine.is_closing() {
            return Err(ApprovalError::Closed);
        }
        let request = self.engine.approvals.check_pending(id)?;
        if scope == ApprovalScope::Session && request.session.is_none() {
            return Err(ApprovalError::NoSession);
        }
        self.check_tool(&request)?;
        let id = self.engine.approvals.claim(id, decision(by, None, scope))?;
        let (told, answer) = oneshot::channel();
        // In a task: whoever asked may leave between the decision and the run.
        let engine = Arc::clone(&self.engine);
        self.engine.tracker.spawn(carry_out(engine, id.clone(), scope, told));
        answer.await.unwrap_or(Err(ApprovalError::Closed))?;
        self.view(id.as_str())
    }

    /// A provider that is down or still starting costs nobody the decision.
    fn check_tool(&self, request: &ApprovalRequest) -> Result<(), ApprovalError> {
        let (table, locale) = (self.engine.table.load(), request.context.locale);
        if let Some(place) = table.find_tool(&request.tool_id) {
            let why = table.routes[place].tool.handle.why_down(locale);
            return why.map_or(Ok(()), |error| Err(ApprovalError::NotNow(error.message.into_owned())));
        }
        if table.was_removed(&request.model_name) {
            let gone = text::removed_tool(locale, &request.tool);
            self.engine.approvals.withdraw_where(|other| (other.id == request.id).then(|| gone.clone()));
            return Err(ApprovalError::Decided(ApprovalState::Withdrawn));
        }
        let missing = table.why_missing(&request.model_name, &[], locale);
        Err(ApprovalError::NotNow(missing.message.into_owned()))
    }

    fn view(&self, id: &str) -> Result<Approval, ApprovalError> {
        self.engine.approvals.view(id).ok_or_else(|| ApprovalError::Unknown(id.to_owned()))
    }

    /// Waits until the store has been read.
    async fn ready(&self) -> Result<(), ApprovalError> {
        let mut restored = self.engine.approvals.restored.subscribe();
        let ready = tokio::time::timeout(self.engine.limits.control_timeout, restored.wait_for(|ready| *ready)).await;
        match ready {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(ApprovalError::Closed),
            Err(_late) => Err(ApprovalError::Store(StoreError("what is kept cannot be read yet".to_owned()))),
        }
    }
}

fn decision(by: &str, reason: Option<&str>, scope: ApprovalScope) -> ApprovalDecision {
    let clip = |text: &str| text.trim().chars().take(MAX_WRITTEN).collect::<String>();
    let reason = reason.map(clip).filter(|reason| !reason.is_empty());
    ApprovalDecision { by: clip(by), reason, scope, at_ms: unix_millis() }
}

// === impl ApprovalFilter ===

impl ApprovalFilter {
    pub(super) fn wants(&self, slot: &Slot) -> bool {
        let session = slot.request.session.as_ref().map(|key| &*key.session);
        self.tenant.as_deref().is_none_or(|tenant| tenant == slot.request.tenant())
            && (self.session.is_none() || self.session.as_deref() == session)
            && self.state.is_none_or(|state| state == slot.state)
    }
}

impl Default for ApprovalFilter {
    fn default() -> Self {
        Self { tenant: None, session: None, state: Some(ApprovalState::Pending), limit: 100 }
    }
}

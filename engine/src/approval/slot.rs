//! Slot: one approval in the table, as it stands.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::record::unix_millis;
use super::{Approval, ApprovalDecision, ApprovalOutcome, ApprovalRecord, ApprovalRequest, ApprovalState, Waiting};

/// One approval, as it stands.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) request: Arc<ApprovalRequest>,
    pub(super) state: ApprovalState,
    pub(super) decision: Option<ApprovalDecision>,
    /// Of one that is started: what is being kept and is told only then.
    pub(super) outcome: Option<Arc<ApprovalOutcome>>,
    pub(super) asked: Instant,
    pub(super) expires: Instant,
    pub(super) over_at_ms: Option<u64>,
    /// The call that waits in its batch, if it does.
    pub(super) waiting: Option<Arc<Waiting>>,
    /// Told of every change.
    pub(super) changed: Arc<Notify>,
    pub(super) bytes: usize,
}

// === impl Slot ===

impl Slot {
    pub(super) fn new(request: Arc<ApprovalRequest>, asked: Instant, expires: Instant) -> Self {
        let bytes = request.bytes();
        Self {
            request,
            state: ApprovalState::Pending,
            decision: None,
            outcome: None,
            asked,
            expires,
            over_at_ms: None,
            waiting: None,
            changed: Arc::default(),
            bytes,
        }
    }

    pub(super) fn restored(record: ApprovalRecord, now: Instant, expires: Instant) -> Self {
        let ApprovalRecord { request, state, decision, outcome, over_at_ms } = record;
        let since = Duration::from_millis(unix_millis().saturating_sub(request.created_at_ms));
        let asked = now.checked_sub(since).unwrap_or(now);
        Self { state, decision, outcome, over_at_ms, ..Self::new(request, asked, expires) }
    }

    pub(super) fn view(&self, now: Instant) -> Approval {
        let left = self.expires.saturating_duration_since(now);
        let outcome = self.state.is_over().then(|| self.outcome.clone()).flatten();
        Approval::new(&self.request, self.state, left, self.decision.clone(), outcome)
    }

    pub(super) fn record(&self) -> ApprovalRecord {
        let state = match (self.state, &self.outcome) {
            (ApprovalState::Started, Some(_)) => ApprovalState::Settled,
            (ApprovalState::Approved, _) => ApprovalState::Started,
            (state, _) => state,
        };
        let over_at_ms = self.over_at_ms.or_else(|| state.is_over().then(unix_millis));
        ApprovalRecord {
            request: Arc::clone(&self.request),
            state,
            decision: self.decision.clone(),
            outcome: self.outcome.clone(),
            over_at_ms,
        }
    }
}

//! asking: calls that a person has to agree to. They end with a notice, or wait in their batch for what comes of it.

use std::sync::Arc;
use std::time::Duration;

use super::RunningBatch;
use super::clock::FAR;
use super::plan::{Passed, Planner, Refused};
use super::running::Admitted;
use super::settled::Settled;
use crate::approval::{ApprovalId, ApprovalNotice, ApprovalRequest, Waiting};
use crate::call::ToolCall;
use crate::gate::{AskReason, Gate, Refusal};
use crate::metrics;
use crate::policy::ApprovalMode;
use crate::registry::PreparedTool;
use crate::result::{ErrorCode, Executed};
use crate::text;

// === impl Planner ===

impl Planner<'_> {
    /// Whether a person has to be asked, for whom nobody has answered yet. What was agreed to for a whole session does not
    /// hold where the turn is tainted.
    pub(super) fn must_ask(&self, tool: &PreparedTool, reason: AskReason) -> bool {
        let is_granted = || self.caller.source.is_some_and(|session| session.has_granted(tool.origin.tool_id.as_str()));
        self.batch.approved.is_none() && (reason == AskReason::Tainted || !is_granted())
    }

    /// Asks a person about a call that passed every other gate.
    pub(super) fn ask(
        &mut self,
        index: usize,
        call: &ToolCall,
        passed: Passed,
        reason: AskReason,
    ) -> Result<Admitted, Box<Refused>> {
        let (locale, policy) = (self.caller.context.locale, &self.caller.policy.approvals);
        let (route, waits) = (passed.route, self.waits());
        if waits && self.room == 0 {
            return Err(self.refused(index, route, Gate::InFlight.refuse(text::in_flight_limit(locale))));
        }
        let timeout = policy.timeout.min(FAR);
        let started = self.clock.started();
        let expires = started.checked_add(timeout).unwrap_or(started);
        let request = Arc::new(self.request(call, &passed, reason, timeout));
        let waiting = waits.then(|| Arc::new(Waiting::new(Arc::clone(&request), expires)));
        if self.engine.approvals.ask(Arc::clone(&request), expires, waiting.clone(), policy).is_err() {
            let full = text::approvals_full(locale, &request.title);
            return Err(self.refused(index, route, Gate::Effect.refuse(full)));
        }
        self.asked.push(request.id.clone());
        if waiting.is_some() {
            self.room -= 1;
            // The tool's own time begins when somebody has agreed.
            return Ok(Passed { deadline: self.while_asking(), ..passed }.admitted(index, waiting));
        }
        let error = text::approval_required(locale, &self.table.routes[route].tool.spec, reason);
        let mut refused = self.refused(index, route, Gate::Effect.refuse(error));
        refused.settled.note_approval(ApprovalNotice::new(&request, timeout));
        Err(refused)
    }

    fn refused(&self, index: usize, route: usize, refusal: Refusal) -> Box<Refused> {
        metrics::record_refusal(refusal.gate, refusal.error.code);
        let settled = Settled::error(refusal.error, Executed::No, self.clock.now());
        Box::new(Refused { index, route: Some(route), settled })
    }

    fn waits(&self) -> bool {
        let mode = self.batch.approvals.unwrap_or(self.caller.policy.approvals.mode);
        self.caller.source.is_some() && mode == ApprovalMode::Wait
    }

    fn request(&self, call: &ToolCall, passed: &Passed, reason: AskReason, timeout: Duration) -> ApprovalRequest {
        let route = &self.table.routes[passed.route];
        let spec = &route.tool.spec;
        let created_at_ms = crate::approval::unix_millis();
        ApprovalRequest {
            id: ApprovalId::fresh(),
            session: self.batch.session.clone(),
            turn: self.caller.session.as_ref().map(|view| view.turn.id.clone()),
            batch_id: self.batch.id.clone(),
            call_id: call.call_id.clone(),
            tool: Arc::clone(&call.name),
            model_name: Arc::clone(&route.model_name),
            tool_id: route.tool.origin.tool_id.clone(),
            provider: Arc::clone(&route.tool.origin.provider),
            title: spec.title_for(self.caller.context.locale).to_owned(),
            effect: spec.effect,
            reason,
            arguments: match &passed.source {
                Some(source) => source.arguments.clone(),
                None => passed.arguments.json().clone(),
            },
            context: Arc::clone(&self.batch.context),
            opaque: call.opaque.clone(),
            mode: if self.waits() { ApprovalMode::Wait } else { ApprovalMode::Return },
            created_at_ms,
            expires_at_ms: created_at_ms.saturating_add(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

/// The end of a call that waits in its batch: that of its run once somebody has agreed, else why there was none.
pub(super) async fn wait(batch: Arc<RunningBatch>, place: usize) -> Settled {
    let admitted = &batch.admitted[place];
    let started = || {
        if let Some(events) = &batch.events {
            events.started(admitted.index, batch.call(place));
        }
    };
    let outcome = match &admitted.waiting {
        Some(waiting) => waiting.follow(&batch.engine.approvals, started).await,
        None => None,
    };
    match outcome.and_then(|outcome| outcome.result.clone()) {
        Some(result) => Settled::of_approved(&result, batch.clock.now()),
        // Forgotten before its end: nobody can say what came of it.
        None => {
            let error = text::cancelled(batch.context.locale, ErrorCode::CancelledCall);
            Settled::given_up(error, true, batch.clock.now())
        }
    }
}

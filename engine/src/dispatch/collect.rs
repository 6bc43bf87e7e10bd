//! collect and aggregate: the ends of the calls become results in call order, with metrics and the stop flag.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::plan::{Plan, Refused};
use super::running::{Admitted, RunningBatch};
use super::settled::Settled;
use super::{CancelReason, hint};
use crate::approval::Asked;
use crate::call::{CallId, ToolCall};
use crate::engine::Engine;
use crate::gate;
use crate::metrics::CallTimes;
use crate::registry::Route;
use crate::result::{BatchOutcome, CallResult, Executed, Repair};
use crate::session::Session;
use crate::tool::model_name;

/// Makes the outcome of a batch whose calls have all settled.
pub(super) fn collect(engine: &Engine, plan: Plan, settled: Vec<Option<Settled>>) -> BatchOutcome {
    let Plan { batch_id, running, refused, asked, _reservation } = plan;
    let mut results = Vec::with_capacity(settled.len() + refused.len());
    let mut refused = refused.into_iter().peekable();
    for (place, settled) in settled.into_iter().flatten().enumerate() {
        let admitted = &running.admitted[place];
        while let Some(earlier) = refused.next_if(|refused| refused.index < admitted.index) {
            results.push(refused_result(engine, &running, earlier));
        }
        results.push(admitted_result(&running, admitted, running.route(place), settled));
    }
    for later in refused {
        results.push(refused_result(engine, &running, later));
    }
    let stop_requested_by = stop_requested_by(&running, &mut results);
    let stop = !stop_requested_by.is_empty();
    if let Some(session) = &running.session {
        aggregate(engine, session, &running, &results, stop);
    }
    if let Some(events) = &running.events {
        events.batch_settled(stop);
    }
    if let Some(asked) = asked {
        end_asking(&running, asked);
    }
    BatchOutcome { batch_id, stop, stop_requested_by, results }
}

/// The calls that asked to stop. Some tools may only ask when all went well.
fn stop_requested_by(batch: &RunningBatch, results: &mut [CallResult]) -> Vec<CallId> {
    let asks = |result: &CallResult| result.is_success() && result.result.effects.stop_after_execution;
    if !results.iter().any(asks) {
        return Vec::new();
    }
    if !results.iter().all(CallResult::is_success) {
        let conditional = |place: &usize| batch.tool(*place).spec.flags.stop_if_all_succeed;
        for place in (0..batch.admitted.len()).filter(conditional) {
            if let Some(result) = results.get_mut(batch.admitted[place].index) {
                result.result.effects.stop_after_execution = false;
            }
        }
    }
    results.iter().filter(|result| asks(result)).map(|result| result.call_id.clone()).collect()
}

/// Writes to the session what the results ask for.
fn aggregate(engine: &Engine, session: &Session, batch: &RunningBatch, results: &[CallResult], stop: bool) {
    let mut changed = false;
    for result in results.iter().filter(|result| result.is_success()) {
        if let Some(loaded) = &result.result.effects.loaded {
            changed |= session.load(loaded);
        }
    }
    if let (true, Some(turn)) = (stop, &batch.turn) {
        changed |= turn.stop();
    }
    if changed {
        engine.sessions.touch(session);
    }
}

/// Whoever cancelled the batch does not look at its approvals; a daemon that stops leaves them to the next one.
fn end_asking(batch: &RunningBatch, asked: Asked) {
    let is_cancelled = match batch.control.reason() {
        Some(CancelReason::Batch | CancelReason::Session) => true,
        Some(CancelReason::Shutdown) => false,
        None => batch.cancel.as_ref().is_some_and(CancellationToken::is_cancelled),
    };
    if is_cancelled {
        drop(asked);
    } else {
        asked.hand_over();
    }
}

fn admitted_result(batch: &RunningBatch, admitted: &Admitted, route: &Route, settled: Settled) -> CallResult {
    let tool = &route.tool;
    let times = CallTimes::of(settled.entered, settled.ended);
    // The run of an approved call has counted itself.
    let is_counted = admitted.waiting.as_ref().is_some_and(|waiting| waiting.has_begun());
    if !is_counted {
        tool.metrics.record(settled.status, times);
    }
    // What never reached its tool is not charged; one that waited for a person has spent nothing yet.
    let never_ran = settled.executed == Executed::No && settled.error.is_some();
    if never_ran && admitted.waiting.is_none() {
        gate::take_back(&batch.engine.usage, &batch.policy, tool, &batch.context, batch.clock.started());
    }
    if let Some(kind) = settled.failure {
        tool.metrics.record_failure(kind);
    }
    let rewritten = settled.notes.as_ref().and_then(|notes| notes.arguments.clone());
    // The model is shown its call as it made it, with the id of the message that it named.
    let arguments = Some(match (rewritten, &admitted.source) {
        (Some(rewritten), Some(source)) => source.beside(&rewritten),
        (Some(rewritten), None) => rewritten,
        (None, Some(source)) => source.arguments.clone(),
        (None, None) => admitted.arguments.json().clone(),
    });
    let head =
        Head { index: admitted.index, call: &admitted.call, route: Some(route), repairs: admitted.repairs.clone() };
    CallResult { arguments, ..head.result(batch, settled) }
}

fn refused_result(engine: &Engine, batch: &RunningBatch, refused: Refused) -> CallResult {
    let Refused { index, call, route, settled } = refused;
    let route = route.map(|route| &batch.table.routes[route]);
    let times = CallTimes::of(None, settled.ended);
    let metrics = route.map_or(engine.metrics.unknown(), |route| &route.tool.metrics);
    metrics.record(settled.status, times);
    Head { index, call: &call, route, repairs: Vec::new() }.result(batch, settled)
}

/// What of a result is known before its call has run.
struct Head<'a> {
    index: usize,
    call: &'a ToolCall,
    route: Option<&'a Route>,
    repairs: Vec<Repair>,
}

// === impl Head ===

impl Head<'_> {
    fn result(self, batch: &RunningBatch, settled: Settled) -> CallResult {
        let mut settled = settled;
        if let Some(route) = self.route {
            hint::add(&mut settled, &route.tool, batch);
        }
        let mut result = settled.result;
        let notes = settled.notes.map(|notes| *notes).unwrap_or_default();
        result.tool_name = Some(Arc::clone(&self.call.name));
        CallResult {
            index: self.index,
            call_id: self.call.call_id.clone(),
            tool: Arc::clone(&self.call.name),
            model_name: match self.route {
                Some(route) => Arc::clone(&route.model_name),
                None => model_name(&self.call.name),
            },
            opaque: self.call.opaque.clone(),
            origin: self.route.map(|route| Arc::clone(&route.tool.origin)),
            status: settled.status,
            result,
            error: settled.error,
            arguments: None,
            repairs: self.repairs,
            executed: settled.executed,
            truncated: settled.truncated,
            reference: notes.reference,
            answered_by: notes.answered_by,
            warnings: notes.warnings,
            approval: notes.approval,
            duration: settled.ended.elapsed(),
        }
    }
}

//! collect and aggregate: the ends of the calls become results in call order, with metrics and the stop flag.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::plan::{Plan, Refused};
use super::running::{Admitted, RunningBatch};
use super::settled::Settled;
use super::{CancelReason, hint};
use crate::approval::{Asked, Waiting};
use crate::call::{CallId, ToolCall};
use crate::engine::Engine;
use crate::gate::{self, Source};
use crate::json::JsonText;
use crate::metrics::CallTimes;
use crate::registry::{Labels, Route};
use crate::result::{BatchOutcome, CallResult, Executed, Repair};
use crate::session::Session;
use crate::tool::model_name;

/// Makes the outcome of a batch whose calls have all settled.
pub(super) fn collect(engine: &Engine, plan: Plan, settled: Vec<Option<Settled>>) -> BatchOutcome {
    let Plan { batch_id, mut running, refused, asked, _reservation } = plan;
    // As a rule no tool holds on to its batch, so that its calls can be taken apart; else they are copied.
    let (calls, admitted) = match Arc::get_mut(&mut running) {
        Some(batch) => batch.take_calls(),
        None => (running.calls.clone(), Vec::new()),
    };
    let (mut admitted, mut refused) = (admitted.into_iter(), refused.into_iter().peekable());
    let mut results = Vec::with_capacity(calls.len());
    let mut conditional = Vec::new();
    let mut ends = settled.into_iter().flatten().enumerate();
    for (index, call) in calls.into_iter().enumerate() {
        if let Some(refused) = refused.next_if(|refused| refused.index == index) {
            results.push(refused_result(engine, &running, call, refused));
        } else if let Some((place, settled)) = ends.next() {
            let passed = admitted.next().map_or_else(|| Ended::of(&running.admitted[place]), Ended::from);
            let route = &running.table.routes[passed.route];
            if route.tool.spec.flags.stop_if_all_succeed {
                conditional.push(index);
            }
            results.push(passed.result(index, call, &running, route, settled));
        }
    }
    let stop_requested_by = stop_requested_by(&conditional, &mut results);
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

/// The calls that asked to stop. Some tools, those at the `conditional` places, may only ask when all went well.
fn stop_requested_by(conditional: &[usize], results: &mut [CallResult]) -> Vec<CallId> {
    let asks = |result: &CallResult| result.is_success() && result.result.effects.stop_after_execution;
    if !results.iter().any(asks) {
        return Vec::new();
    }
    if !results.iter().all(CallResult::is_success) {
        for &place in conditional {
            if let Some(result) = results.get_mut(place) {
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

fn refused_result(engine: &Engine, batch: &RunningBatch, call: ToolCall, refused: Refused) -> CallResult {
    let Refused { index, route, settled } = refused;
    let route = route.map(|route| &batch.table.routes[route]);
    let metrics = route.map_or(engine.metrics.unknown(), |route| &route.tool.metrics);
    metrics.record(settled.status, CallTimes::of(None, settled.ended));
    result(index, call, batch, route, None, Vec::new(), settled)
}

/// What is left of an admitted call when it has settled.
struct Ended {
    route: usize,
    arguments: JsonText,
    repairs: Vec<Repair>,
    source: Option<Box<Source>>,
    waiting: Option<Arc<Waiting>>,
}

// === impl Ended ===

impl From<Admitted> for Ended {
    #[inline]
    fn from(admitted: Admitted) -> Self {
        let Admitted { route, arguments, repairs, source, waiting, .. } = admitted;
        Self { route, arguments: arguments.into_json(), repairs, source, waiting }
    }
}

impl Ended {
    fn of(admitted: &Admitted) -> Self {
        Self {
            route: admitted.route,
            arguments: admitted.arguments.json().clone(),
            repairs: admitted.repairs.clone(),
            source: admitted.source.clone(),
            waiting: admitted.waiting.clone(),
        }
    }

    #[inline]
    fn result(self, index: usize, call: ToolCall, batch: &RunningBatch, route: &Route, settled: Settled) -> CallResult {
        let tool = &route.tool;
        // The run of an approved call has counted itself.
        let is_counted = self.waiting.as_ref().is_some_and(|waiting| waiting.has_begun());
        if !is_counted {
            tool.metrics.record(settled.status, CallTimes::of(settled.entered, settled.ended));
        }
        // What never reached its tool is not charged; one that waited for a person has spent nothing yet.
        let never_ran = settled.executed == Executed::No && settled.error.is_some();
        if never_ran && self.waiting.is_none() {
            gate::take_back(&batch.engine.usage, &batch.policy, tool, &batch.context, batch.clock.started());
        }
        if let Some(kind) = settled.failure {
            tool.metrics.record_failure(kind);
        }
        let rewritten = settled.notes.as_ref().and_then(|notes| notes.arguments.clone());
        // The model is shown its call as it made it, with the id of the message that it named.
        let arguments = match (rewritten, self.source) {
            (Some(rewritten), Some(source)) => source.beside(&rewritten),
            (Some(rewritten), None) => rewritten,
            (None, Some(source)) => source.arguments,
            (None, None) => self.arguments,
        };
        result(index, call, batch, Some(route), Some(arguments), self.repairs, settled)
    }
}

#[inline]
fn result(
    index: usize,
    call: ToolCall,
    batch: &RunningBatch,
    route: Option<&Route>,
    arguments: Option<JsonText>,
    repairs: Vec<Repair>,
    mut settled: Settled,
) -> CallResult {
    if let Some(route) = route {
        hint::add(&mut settled, &route.tool, batch);
    }
    let Settled { status, mut result, error, executed, truncated, notes, ended, .. } = settled;
    let notes = notes.map(|notes| *notes).unwrap_or_default();
    let ToolCall { call_id, name, opaque, .. } = call;
    result.tool_name = Some(Arc::clone(&name));
    let labels = route.map(|route| route.labels().clone());
    let (model_name, origin) = match labels {
        Some(Labels { model_name, origin }) => (model_name, Some(origin)),
        None => (model_name(&name), None),
    };
    CallResult {
        index,
        call_id,
        model_name,
        tool: name,
        opaque,
        origin,
        status,
        result,
        error,
        arguments,
        repairs,
        executed,
        truncated,
        reference: notes.reference,
        answered_by: notes.answered_by,
        warnings: notes.warnings,
        approval: notes.approval,
        duration: ended.elapsed(),
    }
}

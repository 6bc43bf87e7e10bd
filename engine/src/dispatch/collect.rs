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
use crate::registry::Route;
use crate::result::{BatchOutcome, CallResult, Executed, Repair};
use crate::session::Session;
use crate::tool::model_name;

/// Makes the outcome of a batch whose calls have all settled.
pub(super) fn collect(engine: &Engine, plan: Plan, settled: Vec<Option<Settled>>) -> BatchOutcome {
    let Plan { batch_id, mut running, refused, asked, _reservation } = plan;
    let mut results = Vec::with_capacity(settled.len() + refused.len());
    let mut refused = refused.into_iter().peekable();
    // As a rule no tool holds on to its batch, so that its calls can be taken apart; else they are copied.
    let mut taken = Arc::get_mut(&mut running).map(RunningBatch::take_calls).unwrap_or_default().into_iter();
    let mut conditional = Vec::new();
    for (place, settled) in settled.into_iter().flatten().enumerate() {
        let call = match taken.next() {
            Some(admitted) => Ended::from(admitted),
            None => Ended::of(&running.admitted[place]),
        };
        while let Some(earlier) = refused.next_if(|refused| refused.index < call.index) {
            results.push(refused_result(engine, &running, earlier));
        }
        let route = &running.table.routes[call.route];
        if route.tool.spec.flags.stop_if_all_succeed {
            conditional.push(call.index);
        }
        results.push(call.result(&running, route, settled));
    }
    for later in refused {
        results.push(refused_result(engine, &running, later));
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

fn refused_result(engine: &Engine, batch: &RunningBatch, refused: Refused) -> CallResult {
    let Refused { index, call, route, settled } = refused;
    let route = route.map(|route| &batch.table.routes[route]);
    let metrics = route.map_or(engine.metrics.unknown(), |route| &route.tool.metrics);
    metrics.record(settled.status, CallTimes::of(None, settled.ended));
    Head { index, call, route, arguments: None, repairs: Vec::new() }.result(batch, settled)
}

/// What is left of an admitted call when it has settled.
struct Ended {
    index: usize,
    route: usize,
    call: ToolCall,
    arguments: JsonText,
    repairs: Vec<Repair>,
    source: Option<Box<Source>>,
    waiting: Option<Arc<Waiting>>,
}

/// What of a result is known before its call has run.
struct Head<'a> {
    index: usize,
    call: ToolCall,
    route: Option<&'a Route>,
    arguments: Option<JsonText>,
    repairs: Vec<Repair>,
}

// === impl Ended ===

impl From<Admitted> for Ended {
    #[inline]
    fn from(admitted: Admitted) -> Self {
        let Admitted { index, route, call, arguments, repairs, source, waiting, .. } = admitted;
        Self { index, route, call, arguments: arguments.into_json(), repairs, source, waiting }
    }
}

impl Ended {
    fn of(admitted: &Admitted) -> Self {
        Self {
            index: admitted.index,
            route: admitted.route,
            call: admitted.call.clone(),
            arguments: admitted.arguments.json().clone(),
            repairs: admitted.repairs.clone(),
            source: admitted.source.clone(),
            waiting: admitted.waiting.clone(),
        }
    }

    #[inline]
    fn result(self, batch: &RunningBatch, route: &Route, settled: Settled) -> CallResult {
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
        let (arguments, repairs) = (Some(arguments), self.repairs);
        Head { index: self.index, call: self.call, route: Some(route), arguments, repairs }.result(batch, settled)
    }
}

// === impl Head ===

impl Head<'_> {
    #[inline]
    fn result(self, batch: &RunningBatch, mut settled: Settled) -> CallResult {
        if let Some(route) = self.route {
            hint::add(&mut settled, &route.tool, batch);
        }
        let Settled { status, mut result, error, executed, truncated, notes, ended, .. } = settled;
        let notes = notes.map(|notes| *notes).unwrap_or_default();
        let ToolCall { call_id, name, opaque, .. } = self.call;
        result.tool_name = Some(Arc::clone(&name));
        CallResult {
            index: self.index,
            call_id,
            model_name: match self.route {
                Some(route) => Arc::clone(&route.model_name),
                None => model_name(&name),
            },
            tool: name,
            opaque,
            origin: self.route.map(|route| Arc::clone(&route.tool.origin)),
            status,
            result,
            error,
            arguments: self.arguments,
            repairs: self.repairs,
            executed,
            truncated,
            reference: notes.reference,
            answered_by: notes.answered_by,
            warnings: notes.warnings,
            approval: notes.approval,
            duration: ended.elapsed(),
        }
    }
}

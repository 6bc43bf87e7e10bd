//! plan: which calls may run, with which arguments, until when. A refused call settles here; its siblings go on.

use std::sync::Arc;

use tokio::time::Instant;

use super::deadline::{Deadline, FAR};
use super::running::{Admitted, Entry, RunningBatch, Shared};
use super::settled::Settled;
use super::{BatchControl, EventSender};
use crate::call::{Arguments, BatchId, CallPolicy, ToolBatch, ToolCall};
use crate::engine::{Engine, Reservation};
use crate::gate::{self, Admission, Caller, Charging, Gate, Refusal, UsageGate};
use crate::metrics;
use crate::registry::RoutingTable;
use crate::result::{ErrorCode, Executed, Repair, RepairKind};
use crate::session::{Session, SessionView};
use crate::text;

/// Unknown names of one batch for which nearest names are looked up.
const MAX_PROPOSALS: usize = 8;

/// A batch, planned.
pub(super) struct Plan {
    pub(super) batch_id: BatchId,
    pub(super) running: Arc<RunningBatch>,
    pub(super) refused: Vec<Refused>,
    /// Keeps the engine's count of calls until the batch is collected.
    pub(super) _reservation: Reservation,
}

/// A call that settled before it ran.
pub(super) struct Refused {
    pub(super) index: usize,
    pub(super) call: ToolCall,
    pub(super) route: Option<usize>,
    pub(super) settled: Settled,
}

/// What the gates look at, besides the call.
pub(super) struct Planner<'a> {
    engine: &'a Engine,
    table: &'a RoutingTable,
    caller: Caller<'a>,
    policy: CallPolicy,
    started: Instant,
    batch_deadline: Option<Instant>,
    room: usize,
    usage: UsageGate<'a>,
    /// Unknown names that are still looked up among the known ones: a flood of them must not cost a worker its time.
    proposals_left: usize,
}

pub(super) fn plan(
    engine: &Arc<Engine>,
    mut batch: ToolBatch,
    session: Option<Arc<Session>>,
    control: Arc<BatchControl>,
    events: Option<EventSender>,
    started: Instant,
) -> Plan {
    let table = engine.table.load_full();
    let reservation = engine.reserve(batch.calls.len().min(engine.limits.max_batch_calls));
    let calls = std::mem::take(&mut batch.calls);
    let batch_id = batch.id.clone();
    let policy = engine.policy.load_full();
    let view = session.as_deref().map(|session| view(engine, session, &batch));
    let caller = Caller::new(&batch.context, &policy, view);
    let mut planner = Planner::new(engine, &table, &batch, caller, started, reservation.calls(), Charging::Used);
    let mut admitted = Vec::with_capacity(calls.len());
    let mut refused = Vec::new();
    for (index, call) in calls.into_iter().enumerate() {
        match planner.consider(index, call) {
            Ok(call) => admitted.push(call),
            Err(call) => {
                if let (Some(events), Some(error)) = (&events, &call.settled.error) {
                    events.settled(index, &call.call, error.code.status(), started.elapsed());
                }
                refused.push(*call);
            }
        }
    }
    taint(engine, session.as_deref(), &planner, &admitted);
    let turn = planner.caller.session.take().map(|view| view.turn);
    let ToolBatch { context, cancel, host, native_results, .. } = batch;
    let shared =
        Shared { context, table, started, control, cancel, events, host, native_results, policy, session, turn };
    let running = Arc::new(RunningBatch::new(engine, shared, admitted));
    Plan { batch_id, running, refused, _reservation: reservation }
}

/// What the batch sees of its session: frozen now, whatever its calls do.
fn view(engine: &Engine, session: &Session, batch: &ToolBatch) -> SessionView {
    let (mut view, began) = session.view(batch.turn.as_ref());
    if began {
        engine.sessions.touch(session);
    }
    if batch.all_loaded {
        view.loaded = None;
    }
    view
}

/// A call of an untrusted tool taints the rest of the turn: every batch that starts from now on. This one was decided as
/// of its start.
fn taint(engine: &Engine, session: Option<&Session>, planner: &Planner<'_>, admitted: &[Admitted]) {
    let (Some(session), Some(view)) = (session, &planner.caller.session) else { return };
    let is_untrusted = |call: &Admitted| planner.table.routes[call.route].tool.spec.flags.untrusted;
    if planner.caller.is_model() && admitted.iter().any(is_untrusted) && view.turn.taint() {
        engine.sessions.touch(session);
    }
}

/// What the gates found out about a call that may run.
pub(super) struct Passed {
    route: usize,
    pub(super) arguments: Arguments,
    pub(super) repairs: Vec<Repair>,
    deadline: Deadline,
    is_ordered: bool,
}

// === impl Planner ===

impl<'a> Planner<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        table: &'a RoutingTable,
        batch: &ToolBatch,
        caller: Caller<'a>,
        started: Instant,
        room: usize,
        charging: Charging,
    ) -> Self {
        let batch_deadline = batch.deadline.and_then(|time| started.checked_add(time.min(FAR)));
        let policy = batch.policy;
        let usage = UsageGate::new(&engine.usage, charging, started);
        Self { engine, table, caller, policy, started, batch_deadline, room, usage, proposals_left: MAX_PROPOSALS }
    }

    fn consider(&mut self, index: usize, call: ToolCall) -> Result<Admitted, Box<Refused>> {
        let (route, renamed) = self.resolve(&call.name);
        match self.check(index, &call, route, renamed) {
            Ok(Passed { route, arguments, repairs, deadline, is_ordered }) => {
                self.room -= 1;
                let entry = Entry::default();
                Ok(Admitted { index, call, arguments, repairs, deadline, route, is_ordered, entry })
            }
            Err(refusal) => {
                metrics::record_refusal(refusal.gate, refusal.error.code);
                let settled = Settled::error(refusal.error, Executed::No, Instant::now());
                Err(Box::new(Refused { index, call, route, settled }))
            }
        }
    }

    /// The route of a name, and what was mended to find it.
    pub(super) fn resolve(&self, name: &str) -> (Option<usize>, Option<Repair>) {
        match self.table.find(name) {
            None if self.policy.lenient_names => {
                let meant = self.table.meant(name);
                (meant, meant.map(|_| Repair::whole(RepairKind::ToolName)))
            }
            found => (found, None),
        }
    }

    fn unknown(&mut self, name: &str) -> Refusal {
        let nearest = if self.proposals_left > 0 {
            self.table.nearest(name, |tool| gate::may_list(tool, &self.caller).is_ok())
        } else {
            Vec::new()
        };
        self.proposals_left = self.proposals_left.saturating_sub(1);
        Gate::Name.refuse(self.table.why_missing(name, &nearest, self.caller.context.locale))
    }

    pub(super) fn check(
        &mut self,
        index: usize,
        call: &ToolCall,
        route: Option<usize>,
        renamed: Option<Repair>,
    ) -> Result<Passed, Refusal> {
        let locale = self.caller.context.locale;
        if self.engine.is_closing() {
            return Err(Gate::Batch.refuse(text::cancelled(locale, ErrorCode::CancelledShutdown)));
        }
        let limit = self.engine.limits.max_batch_calls;
        if index >= limit {
            return Err(Gate::Batch.refuse(text::batch_limit(locale, limit)));
        }
        if self.caller.turn_is_over() {
            return Err(Gate::Turn.refuse(text::turn_over(locale)));
        }
        let Some(route) = route else {
            return Err(self.unknown(&call.name));
        };
        let tool = &self.table.routes[route].tool;
        let admission = gate::admit(tool, call, &self.caller, &self.policy, &self.engine.limits)?;
        let Admission { arguments, repairs: mended, ask } = admission;
        if let Some(reason) = ask {
            return Err(Gate::Effect.refuse(text::approval_required(locale, &tool.spec, reason)));
        }
        let repairs = renamed.into_iter().chain(mended).collect();
        if self.room == 0 {
            return Err(Gate::InFlight.refuse(text::in_flight_limit(locale)));
        }
        self.usage.check(tool, &self.caller)?;
        let is_ordered = tool.spec.flags.ordered || tool.is_in(&self.caller.policy.ordered);
        let deadline = match is_ordered {
            true => Deadline::waiting(self.started, self.batch_deadline),
            false => Deadline::running(self.started, self.batch_deadline, tool.timeout),
        };
        Ok(Passed { route, arguments, repairs, deadline, is_ordered })
    }
}

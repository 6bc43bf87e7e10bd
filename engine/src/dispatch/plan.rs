//! plan: which calls may run, with which arguments, until when. A refused call settles here; its siblings go on.

use std::sync::Arc;

use tokio::time::Instant;

use super::clock::{Clock, Moment};
use super::deadline::Deadline;
use super::running::{Admitted, Entry, RunningBatch, Shared};
use super::settled::Settled;
use super::{BatchControl, EventSender, audit};
use crate::approval::{ApprovalId, Asked, Waiting};
use crate::call::{Arguments, BatchId, CallPolicy, RawArguments, ToolBatch, ToolCall};
use crate::engine::{Engine, Reservation};
use crate::gate::{self, Admission, AskReason, Caller, Charging, Gate, Refusal, Source, UsageGate};
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
    /// What a person has to agree to, if anything.
    pub(super) asked: Option<Asked>,
    /// Keeps the engine's count of calls until the batch is collected.
    pub(super) _reservation: Reservation,
}

/// A call that settled before it ran.
pub(super) struct Refused {
    pub(super) index: usize,
    pub(super) route: Option<usize>,
    pub(super) settled: Settled,
}

/// What the gates look at, besides the call.
pub(super) struct Planner<'a> {
    pub(super) engine: &'a Engine,
    pub(super) table: &'a RoutingTable,
    /// Without its calls.
    pub(super) batch: &'a ToolBatch,
    pub(super) caller: Caller<'a>,
    policy: CallPolicy,
    pub(super) clock: Clock,
    /// When the batch's own time is up.
    ends: Moment,
    pub(super) room: usize,
    pub(super) asked: Vec<ApprovalId>,
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
    let mut calls = std::mem::take(&mut batch.calls);
    let batch_id = batch.id.clone();
    let policy = engine.policy.load_full();
    let view = session.as_deref().map(|session| view(engine, session, &batch));
    let caller = Caller::new(&batch.context, &policy, view).among(table.findable);
    let asked_in = batch.approved.as_ref().and_then(|approved| approved.turn.as_ref());
    let caller = caller.with_source(session.as_deref(), asked_in);
    // The call of an approval had its room when it was asked for.
    let room = if batch.approved.is_some() { 1 } else { reservation.calls() };
    let mut planner = Planner::new(engine, &table, &batch, caller, started, room, Charging::Used);
    let mut admitted = Vec::with_capacity(calls.len());
    let mut refused = Vec::new();
    for (index, call) in calls.iter_mut().enumerate() {
        let raw = std::mem::take(&mut call.arguments);
        if let Err(refusal) = planner.consider(index, call, raw, &mut admitted) {
            if let Some(events) = &events {
                refusal.tell(call, events);
            }
            refused.push(*refusal);
        }
    }
    taint(engine, session.as_deref(), &planner, &admitted);
    let (turn, loaded) = planner.caller.session.take().map(|view| (view.turn, view.loaded)).unzip();
    let loaded = loaded.flatten();
    // An approved call asks to stop the turn in which it was made, and no later one.
    let turn = turn.filter(|turn| batch.approved.as_ref().is_none_or(|call| call.turn.as_ref() == Some(&turn.id)));
    let asked = std::mem::take(&mut planner.asked);
    let (clock, ends) = (planner.clock, planner.ends);
    let ToolBatch { context, cancel, host, native_results, .. } = batch;
    let shared = Shared {
        context,
        table,
        clock,
        ends,
        control,
        cancel,
        events,
        host,
        native_results,
        policy,
        session,
        turn,
        loaded,
    };
    let running = Arc::new(RunningBatch::new(engine, shared, calls, admitted));
    let asked = if asked.is_empty() { None } else { Some(hand_out(engine, &running, asked)) };
    Plan { batch_id, running, refused, asked, _reservation: reservation }
}

/// Ties the calls that wait to their batch.
fn hand_out(engine: &Arc<Engine>, running: &Arc<RunningBatch>, asked: Vec<ApprovalId>) -> Asked {
    for (place, admitted) in running.admitted.iter().enumerate() {
        if let Some(waiting) = &admitted.waiting {
            waiting.attach(running, place);
        }
    }
    Asked::new(engine, asked)
}

/// What the batch sees of its session: frozen now, whatever its calls do.
fn view(engine: &Engine, session: &Session, batch: &ToolBatch) -> SessionView {
    if batch.approved.is_some() {
        return session.view_of_approved();
    }
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
    pub(super) route: usize,
    pub(super) arguments: Arguments,
    pub(super) repairs: Vec<Repair>,
    pub(super) source: Option<Box<Source>>,
    pub(super) deadline: Deadline,
    pub(super) is_ordered: bool,
    /// Why a person has to be asked, if so.
    pub(super) ask: Option<AskReason>,
}

// === impl Refused ===

impl Refused {
    fn tell(&self, call: &ToolCall, events: &EventSender) {
        if let Some(notice) = self.settled.approval() {
            events.approval_required(self.index, call, notice);
        }
        events.settled(self.index, call, self.settled.status, self.settled.ended.elapsed());
    }
}

// === impl Passed ===

impl Passed {
    #[inline]
    pub(super) fn admitted(self, index: usize, waiting: Option<Arc<Waiting>>) -> Admitted {
        let Self { route, arguments, repairs, source, deadline, is_ordered, .. } = self;
        let entry = Entry::default();
        Admitted { index, arguments, repairs, source, deadline, route, is_ordered, entry, waiting }
    }
}

// === impl Planner ===

impl<'a> Planner<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        table: &'a RoutingTable,
        batch: &'a ToolBatch,
        caller: Caller<'a>,
        started: Instant,
        room: usize,
        charging: Charging,
    ) -> Self {
        let policy = batch.policy;
        Self {
            engine,
            table,
            batch,
            caller,
            policy,
            clock: Clock::new(started),
            ends: batch.deadline.map_or(Moment::FAR, Moment::after),
            room,
            asked: Vec::new(),
            usage: UsageGate::new(&engine.usage, charging, started),
            proposals_left: MAX_PROPOSALS,
        }
    }

    /// Adds the call to those that may run, or says why it may not.
    fn consider(
        &mut self,
        index: usize,
        call: &ToolCall,
        raw: RawArguments,
        admitted: &mut Vec<Admitted>,
    ) -> Result<(), Box<Refused>> {
        let (route, renamed) = self.resolve(&call.name);
        match self.check(index, &call.name, raw, route, renamed) {
            Ok(passed) => {
                if let Some(reason) = passed.ask {
                    admitted.push(self.ask(index, call, passed, reason)?);
                    return Ok(());
                }
                self.room -= 1;
                admitted.push(passed.admitted(index, None));
                Ok(())
            }
            Err(refusal) => {
                metrics::record_refusal(refusal.gate, refusal.error.code);
                audit::refused(&refusal, call, &self.caller.context);
                let settled = Settled::error(refusal.error, Executed::No, self.clock.now());
                Err(Box::new(Refused { index, route, settled }))
            }
        }
    }

    /// The route of a name, and what was mended to find it.
    pub(super) fn resolve(&self, name: &str) -> (Option<usize>, Option<Repair>) {
        if let Some(approved) = &self.batch.approved {
            return (self.table.find_tool(&approved.tool_id), None);
        }
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

    #[inline]
    pub(super) fn check(
        &mut self,
        index: usize,
        name: &str,
        raw: RawArguments,
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
        if self.batch.approved.is_none() && self.caller.turn_is_over() {
            return Err(Gate::Turn.refuse(text::turn_over(locale)));
        }
        let Some(route) = route else {
            return Err(self.unknown(name));
        };
        let tool = &self.table.routes[route].tool;
        let mut repairs = Vec::from_iter(renamed);
        let admission = gate::admit(tool, raw, &self.caller, &self.policy, &self.engine.limits, &mut repairs)?;
        let Admission { arguments, source, ask } = admission;
        let given = source.as_ref().map_or(arguments.text(), |source| source.arguments.as_str());
        if self.batch.approved.as_ref().is_some_and(|approved| given != approved.arguments.as_str()) {
            return Err(Gate::Arguments.refuse(text::approved_arguments(locale)));
        }
        let ask = ask.filter(|reason| self.must_ask(tool, *reason));
        if self.room == 0 && ask.is_none() {
            return Err(Gate::InFlight.refuse(text::in_flight_limit(locale)));
        }
        if ask.is_none() {
            // What a person has to agree to first is paid for when it runs.
            self.usage.check(tool, &self.caller)?;
        }
        let is_ordered = tool.spec.flags.ordered || tool.is_in(&self.caller.policy.ordered);
        let deadline = match is_ordered {
            true => Deadline::waiting(self.ends),
            false => Deadline::running(self.ends, tool.timeout),
        };
        Ok(Passed { route, arguments, repairs, source, deadline, is_ordered, ask })
    }

    /// Of a call that waits for a person: its own time begins when somebody has agreed.
    pub(super) fn while_asking(&self) -> Deadline {
        Deadline::waiting(self.ends)
    }
}

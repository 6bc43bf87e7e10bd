//! plan: which calls may run, with which arguments, until when. A refused call settles here; its siblings go on.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::running::{Admitted, Entry, RunningBatch, Shared};
use super::settled::Settled;
use super::{BatchControl, EventSender};
use crate::call::{Arguments, BatchId, CallPolicy, ToolBatch, ToolCall, ToolExecutionContext};
use crate::engine::{Engine, Reservation};
use crate::gate::{self, Gate, Refusal};
use crate::metrics;
use crate::registry::RoutingTable;
use crate::result::{ErrorCode, Executed, Repair, RepairKind};
use crate::text;

/// Unknown names of one batch for which nearest names are looked up.
const MAX_PROPOSALS: usize = 8;
/// Time that no clock overflows on: about a century.
const FAR: Duration = Duration::from_secs(3_000_000_000);

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
    context: &'a ToolExecutionContext,
    policy: CallPolicy,
    started: Instant,
    batch_deadline: Option<Instant>,
    room: usize,
    /// Unknown names that are still looked up among the known ones: a flood of them must not cost a worker its time.
    proposals_left: usize,
}

pub(super) fn plan(
    engine: &Arc<Engine>,
    mut batch: ToolBatch,
    control: Arc<BatchControl>,
    events: Option<EventSender>,
    started: Instant,
) -> Plan {
    let table = engine.table.load_full();
    let reservation = engine.reserve(batch.calls.len().min(engine.limits.max_batch_calls));
    let calls = std::mem::take(&mut batch.calls);
    let batch_id = batch.id.clone();
    let mut planner = Planner::new(engine, &table, &batch, started, reservation.calls());
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
    let ToolBatch { context, cancel, host, native_results, .. } = batch;
    let shared = Shared { context, table, started, control, cancel, events, host, native_results };
    let running = Arc::new(RunningBatch::new(engine, shared, admitted));
    Plan { batch_id, running, refused, _reservation: reservation }
}

/// What the gates found out about a call that may run.
pub(super) struct Passed {
    route: usize,
    pub(super) arguments: Arguments,
    pub(super) repairs: Vec<Repair>,
    deadline: Instant,
}

// === impl Planner ===

impl<'a> Planner<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        table: &'a RoutingTable,
        batch: &'a ToolBatch,
        started: Instant,
        room: usize,
    ) -> Self {
        let batch_deadline = batch.deadline.and_then(|time| started.checked_add(time.min(FAR)));
        let (context, policy) = (&*batch.context, batch.policy);
        Self { engine, table, context, policy, started, batch_deadline, room, proposals_left: MAX_PROPOSALS }
    }

    fn consider(&mut self, index: usize, call: ToolCall) -> Result<Admitted, Box<Refused>> {
        let (route, renamed) = self.resolve(&call.name);
        match self.check(index, &call, route, renamed) {
            Ok(Passed { route, arguments, repairs, deadline }) => {
                self.room -= 1;
                Ok(Admitted { index, call, arguments, repairs, deadline, route, entry: Entry::default() })
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
            self.table.nearest(name, |tool| gate::may_list(tool, self.context).is_ok())
        } else {
            Vec::new()
        };
        self.proposals_left = self.proposals_left.saturating_sub(1);
        Gate::Name.refuse(self.table.why_missing(name, &nearest, self.context.locale))
    }

    pub(super) fn check(
        &mut self,
        index: usize,
        call: &ToolCall,
        route: Option<usize>,
        renamed: Option<Repair>,
    ) -> Result<Passed, Refusal> {
        let locale = self.context.locale;
        if self.engine.is_closing() {
            return Err(Gate::Batch.refuse(text::cancelled(locale, ErrorCode::CancelledShutdown)));
        }
        let limit = self.engine.limits.max_batch_calls;
        if index >= limit {
            return Err(Gate::Batch.refuse(text::batch_limit(locale, limit)));
        }
        let Some(route) = route else {
            return Err(self.unknown(&call.name));
        };
        let tool = &self.table.routes[route].tool;
        let (arguments, mended) = gate::admit(tool, call, self.context, &self.policy, &self.engine.limits)?;
        let repairs = renamed.into_iter().chain(mended).collect();
        if self.room == 0 {
            return Err(Gate::InFlight.refuse(text::in_flight_limit(locale)));
        }
        Ok(Passed { route, arguments, repairs, deadline: self.deadline(tool.timeout) })
    }

    /// The batch's or the tool's own, whichever comes first.
    fn deadline(&self, timeout: Duration) -> Instant {
        let own = self.started.checked_add(timeout.min(FAR));
        [own, self.batch_deadline].into_iter().flatten().min().unwrap_or(self.started)
    }
}

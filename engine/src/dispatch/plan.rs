//! plan: which calls may run, with which arguments, until when. A refused call settles here; its siblings go on.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::running::{Admitted, Entry, RunningBatch, Shared};
use super::settled::Settled;
use super::{BatchControl, EventSender};
use crate::call::{Arguments, BatchId, Profile, ToolBatch, ToolCall, ToolExecutionContext};
use crate::engine::{Engine, Reservation};
use crate::gate::{self, Gate, Refusal};
use crate::metrics;
use crate::registry::RoutingTable;
use crate::result::{ErrorCode, Executed, Repair};
use crate::text;

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
struct Planner<'a> {
    engine: &'a Engine,
    table: &'a RoutingTable,
    context: &'a ToolExecutionContext,
    profile: Profile,
    started: Instant,
    batch_deadline: Option<Instant>,
    room: usize,
}

pub(super) fn plan(
    engine: &Arc<Engine>,
    batch: ToolBatch,
    control: Arc<BatchControl>,
    events: Option<EventSender>,
    started: Instant,
) -> Plan {
    let table = engine.table.load_full();
    let reservation = engine.reserve(batch.calls.len().min(engine.limits.max_batch_calls));
    let mut planner = Planner {
        engine,
        table: &table,
        context: &batch.context,
        profile: batch.profile,
        started,
        batch_deadline: batch.deadline.and_then(|time| started.checked_add(time.min(FAR))),
        room: reservation.calls(),
    };
    let mut admitted = Vec::with_capacity(batch.calls.len());
    let mut refused = Vec::new();
    for (index, call) in batch.calls.into_iter().enumerate() {
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
    let shared = Shared { context: batch.context, table, started, control, cancel: batch.cancel, events };
    let running = Arc::new(RunningBatch::new(engine, shared, admitted));
    Plan { batch_id: batch.id, running, refused, _reservation: reservation }
}

/// What the gates found out about a call that may run.
struct Passed {
    route: usize,
    arguments: Arguments,
    repairs: Vec<Repair>,
    deadline: Instant,
}

// === impl Planner ===

impl Planner<'_> {
    fn consider(&mut self, index: usize, call: ToolCall) -> Result<Admitted, Box<Refused>> {
        let route = self.table.find(&call.name);
        match self.check(index, &call, route) {
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

    fn check(&self, index: usize, call: &ToolCall, route: Option<usize>) -> Result<Passed, Refusal> {
        let locale = self.context.locale;
        if self.engine.is_closing() {
            return Err(Gate::Batch.refuse(text::cancelled(locale, ErrorCode::CancelledShutdown)));
        }
        let limit = self.engine.limits.max_batch_calls;
        if index >= limit {
            return Err(Gate::Batch.refuse(text::batch_limit(locale, limit)));
        }
        let Some(route) = route else {
            return Err(Gate::Name.refuse(self.table.why_missing(&call.name, locale)));
        };
        let tool = &self.table.routes[route].tool;
        let (arguments, repairs) = gate::admit(tool, call, self.context, self.profile, &self.engine.limits)?;
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

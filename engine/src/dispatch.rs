//! One batch, one direction: plan -> run -> collect -> aggregate.
//!
//! Nothing here awaits an actor or takes a lock that another batch holds. The registry's table is read once.

mod approved;
mod asking;
mod audit;
mod body;
mod call_run;
mod check;
mod clock;
mod collect;
mod control;
mod deadline;
mod delivery;
mod events;
mod held;
mod hint;
mod in_flight;
mod ordered;
mod outbox;
mod plan;
mod run;
mod running;
mod settled;
mod track;

use std::sync::Arc;

use futures::FutureExt;
use tokio::time::Instant;

use crate::call::ToolBatch;
use crate::engine::Engine;
use crate::result::BatchOutcome;

pub(crate) use approved::run_approved;
pub(crate) use body::Body;
pub use check::CheckedCall;
pub(crate) use check::{check, check_in};
pub(crate) use clock::{Clock, Moment};
pub use control::BatchHandle;
pub(crate) use control::{BatchControl, CancelReason};
pub(crate) use deadline::Deadline;
pub(crate) use events::EventSender;
pub use events::{BatchEvent, BatchEvents, Progress};
pub(crate) use held::Held;
pub(crate) use in_flight::{BatchesInFlight, Registered};
pub(crate) use running::RunningBatch;
pub(crate) use track::Track;

/// Runs a batch in the caller's task. Dropping the future cancels the batch.
pub(crate) async fn dispatch(
    engine: &Arc<Engine>,
    mut batch: ToolBatch,
    control: Arc<BatchControl>,
    events: Option<EventSender>,
) -> BatchOutcome {
    let started = Instant::now();
    let _drain = engine.tracker.token();
    let session = match &batch.session {
        Some(key) => Some(engine.sessions.open(key, started).await),
        None => None,
    };
    if let Some(session) = &session {
        session.fill(&mut batch.context);
    }
    let plan = plan::plan(engine, batch, session, control, events, started);
    let settled = match &plan.asked {
        None => run::run(engine, &plan.running).await,
        // While the rest run: whoever hears of an approval can rely on it.
        Some(asked) => futures::join!(run::run(engine, &plan.running), asked.keep().boxed()).0,
    };
    let outcome = collect::collect(engine, plan, settled);
    engine.metrics.record_batch(started.elapsed());
    outcome
}

//! approved: the run of one approved call, as a batch of its own.

use std::sync::Arc;

use tokio::time::Instant;

use super::{BatchControl, BatchesInFlight, collect, plan, run};
use crate::approval::{ApprovalRequest, Waiting};
use crate::call::{CallPolicy, Profile, RawArguments, ToolBatch, ToolCall};
use crate::engine::Engine;
use crate::result::{CallResult, ErrorCode};
use crate::text;

/// Runs an approved call: under the policy, the tools and the schema of now, with the arguments and the context of then.
///
/// Where its batch waits, it has the batch's host and deadline, tells the batch its progress, and is cancelled with it.
pub(crate) async fn run_approved(
    engine: &Arc<Engine>,
    request: &Arc<ApprovalRequest>,
    waiting: Option<&Waiting>,
) -> CallResult {
    let started = Instant::now();
    let session = match &request.session {
        Some(key) => Some(engine.sessions.open(key, started).await),
        None => None,
    };
    let mut batch = ToolBatch::new(vec![call(request)]);
    batch.context = Arc::clone(&request.context);
    batch.session = request.session.clone();
    batch.policy = CallPolicy::from(Profile::Strict);
    batch.approved = Some(Arc::clone(request));
    let outer = match waiting {
        Some(waiting) => waiting.outer().await,
        None => None,
    };
    if let Some((outer, place)) = &outer {
        batch.host = Some(Arc::clone(&outer.host));
        batch.native_results = outer.native_results;
        batch.deadline = Some(outer.deadline(*place).saturating_duration_since(started));
    }
    let control = Arc::new(BatchControl::default());
    let _registered = BatchesInFlight::register(engine, batch.id.clone(), batch.session.clone(), &control);
    let plan = plan::plan(engine, batch, session, Arc::clone(&control), None, started);
    if let Some((outer, place)) = &outer {
        plan.running.relay_to(outer, *place);
    }
    drop(outer);
    if let Some(waiting) = waiting {
        waiting.begin(&plan.running, &control);
    }
    let settled = run::run(engine, &plan.running).await;
    let mut outcome = collect::collect(engine, plan, settled);
    outcome.results.pop().unwrap_or_else(|| {
        // A batch has one result for each call, and this one had one.
        let error = text::cancelled(request.context.locale, ErrorCode::CancelledShutdown);
        request.without_run(error, crate::result::Executed::Unknown)
    })
}

fn call(request: &ApprovalRequest) -> ToolCall {
    let arguments = RawArguments::text(request.arguments.as_str());
    ToolCall::new(request.call_id.clone(), Arc::clone(&request.tool), arguments).with_opaque(request.opaque.clone())
}

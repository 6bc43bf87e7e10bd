//! Running what was approved: kept as started before it runs, and its outcome kept before it is told.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{ApprovalError, ApprovalId, ApprovalOutcome, ApprovalRequest, ApprovalScope, writer};
use crate::dispatch;
use crate::engine::Engine;

/// How long it is waited between attempts to keep an outcome; after the last it is told all the same.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// Runs a call that was just approved, to its end. `told` hears as soon as it is sure to run, or why it is not.
pub(super) async fn carry_out(
    engine: Arc<Engine>,
    id: ApprovalId,
    scope: ApprovalScope,
    told: oneshot::Sender<Result<(), ApprovalError>>,
) {
    if let Err(error) = writer::keep(&engine, &id).await {
        engine.approvals.unclaim(&id);
        told.send(Err(ApprovalError::Store(error))).ok();
        return;
    }
    let Some((request, waiting)) = engine.approvals.start(&id) else {
        told.send(Err(ApprovalError::Unknown(id.to_string()))).ok();
        return;
    };
    if scope == ApprovalScope::Session {
        grant(&engine, &request);
    }
    told.send(Ok(())).ok();
    let result = dispatch::run_approved(&engine, &request, waiting.as_deref()).await;
    engine.approvals.note(&id, ApprovalOutcome::new(result));
    keep_outcome(&engine, &id).await;
    engine.approvals.settle(&id);
}

/// A session that has ended meanwhile, or left memory, is not opened for it: the person is asked again.
fn grant(engine: &Engine, request: &ApprovalRequest) {
    let Some(session) = request.session.as_ref().and_then(|key| engine.sessions.get(key)) else { return };
    if session.grant(request.tool_id.as_str()) {
        engine.sessions.touch(&session);
    }
}

async fn keep_outcome(engine: &Engine, id: &ApprovalId) {
    for pause in PAUSES.map(Some).into_iter().chain([None]) {
        let Err(error) = writer::keep(engine, id).await else { return };
        match pause {
            Some(pause) => tokio::time::sleep(pause).await,
            None => tracing::warn!(%id, %error, "an outcome is told before it could be kept"),
        }
    }
}

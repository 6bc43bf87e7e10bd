//! `tools/call`: a batch of one.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::{
    BatchEvent, BatchHandle, BatchOutcome, CallResult, CallStatus, ErrorCode, RawArguments, RegistryError, ToolBatch,
    ToolCall,
};

use super::Shared;
use super::conduct::missing_capability;
use super::error::RpcError;
use super::held::Outcome;
use super::host::CallHost;
use super::line::Line;
use super::message::Request;
use super::peer::Peer;
use super::render;

#[derive(Deserialize)]
struct CallParams<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// A client that leaves drops its request's future, and with it this.
struct CancelOnDrop(Option<BatchHandle>);

/// Runs one call.
pub(super) async fn call(
    shared: &Arc<Shared>,
    request: &Request,
    peer: &Peer,
    line: &Line,
    host: Arc<CallHost>,
) -> Outcome {
    let params: CallParams<'_> = request.read()?;
    let arguments = params.arguments.map_or(RawArguments::Absent, |raw| RawArguments::text(raw.get()));
    let name: Arc<str> = params.name.into();
    let call = ToolCall::new(request.id.as_str().trim_matches('"'), Arc::clone(&name), arguments);
    let mut batch = ToolBatch::new(vec![call])
        .with_context(Arc::clone(&peer.context))
        .with_policy(shared.config.policy)
        .with_host(Arc::clone(&host) as _)
        .with_all_loaded()
        .with_native_results();
    batch.session = peer.session.as_ref().map(|session| session.key.clone());
    let outcome =
        if line.wants_progress() { watched(shared, batch, line).await? } else { shared.registry.dispatch(batch).await };
    let result = outcome.results.into_iter().next();
    let result = result.ok_or_else(|| RpcError::new(RpcError::INTERNAL, "the call gave no result"))?;
    answer(result, &name, peer, &host)
}

/// Runs a batch whose progress is told.
async fn watched(shared: &Shared, batch: ToolBatch, line: &Line) -> Result<BatchOutcome, RpcError> {
    let started = shared.registry.start(batch).await.map_err(|error| refused(&error))?;
    let mut running = CancelOnDrop(Some(started));
    let ended = || RpcError::new(RpcError::UNAVAILABLE, "Toolyard is shutting down");
    let handle = running.0.as_mut().ok_or_else(ended)?;
    while let Some(event) = handle.events().next().await {
        match event {
            BatchEvent::CallProgress { progress, .. } => line.progress(&progress),
            BatchEvent::BatchSettled { .. } => break,
            _ => {}
        }
    }
    let outcome = handle.wait().await;
    running.0 = None;
    outcome.ok_or_else(ended)
}

fn refused(error: &RegistryError) -> RpcError {
    RpcError::new(RpcError::UNAVAILABLE, error.to_string())
}

fn answer(result: CallResult, name: &str, peer: &Peer, host: &CallHost) -> Outcome {
    let code = result.error.as_ref().map(|error| error.code);
    let is_secret = matches!(code, Some(ErrorCode::PolicyHidden | ErrorCode::PolicyUserOnly));
    if result.status == CallStatus::UnknownTool || is_secret {
        return Err(RpcError::invalid_params(format!("Unknown tool: {name}")));
    }
    if let (false, true, Some(missing)) = (result.is_success(), peer.is_modern(), host.missing()) {
        return Err(missing_capability(missing));
    }
    render::result(result, peer)
}

// === impl CancelOnDrop ===

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.cancel();
        }
    }
}

//! Batches: running one, cancelling one.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::{
    ApprovalMode, AssistantTurn, BatchHandle, BatchId, BatchOutcome, CallPolicy, Dialect, MessageOptions, ParsedReply,
    Profile, SessionKey, ToolBatch, ToolExecutionContext, TurnId,
};

use super::Shared;
use super::object::read_object;
use super::problem::Problem;
use super::sessions::{check_id, check_tenant};
use crate::document::OutcomeDocument;

/// Bytes of a body that is read away from the workers, which have others to serve.
const LARGE_BYTES: usize = 64 << 10;
/// Calls of a batch whose outcome is written away from them.
const LARGE_BATCH: usize = 512;

/// A batch to run: a model's `response` in a `format`, the `chunks` of a streamed one, or `calls` in Toolyard's own form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchRequest<'a> {
    batch_id: Option<String>,
    session: Option<String>,
    turn: Option<String>,
    tenant: Option<String>,
    format: Option<String>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    chunks: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    calls: Option<&'a RawValue>,
    #[serde(default)]
    context: ToolExecutionContext,
    /// Whether calls that a person has to agree to wait in the batch; as policy says where absent.
    approvals: Option<ApprovalMode>,
    profile: Option<Profile>,
    policy: Option<CallPolicy>,
    /// What ids of calls become in the messages.
    ids: Option<String>,
    /// Where pictures go in the messages.
    media: Option<String>,
    deadline_ms: Option<u64>,
}

/// A batch that can be run, and how its outcome is answered.
struct Prepared {
    batch: ToolBatch,
    turn: AssistantTurn,
    dialect: Dialect,
    options: MessageOptions,
    warnings: Vec<String>,
}

/// Runs a batch and answers with its outcome. A client that leaves cancels it.
pub(super) async fn run(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let body = body?;
    check_content_type(&headers)?;
    let Prepared { batch, turn, dialect, options, warnings } = if body.len() > LARGE_BYTES {
        let shared_too = Arc::clone(&shared);
        shared.heavy.run(move || read(&body, &shared_too)).await??
    } else {
        read(&body, &shared)?
    };
    let running = CancelOnDrop(Some(shared.app.registry.start(batch).await?));
    let outcome = running.outcome().await;
    let outcome = outcome.ok_or_else(|| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "cancelled.shutdown", "the daemon stopped under the batch")
    })?;
    let is_large = outcome.results.len() > LARGE_BATCH;
    let write = move || {
        let document = OutcomeDocument::new(outcome, &turn, dialect, options).with_warnings(warnings);
        serde_json::to_vec(&document).map_err(|error| Problem::internal(&error))
    };
    let written = if is_large { shared.heavy.run(write).await?? } else { write()? };
    Ok(([(header::CONTENT_TYPE, "application/json")], written).into_response())
}

fn read(body: &Bytes, shared: &Shared) -> Result<Prepared, Problem> {
    let request: BatchRequest<'_> = read_object(body)?;
    prepare(request, shared)
}

/// Cancels a batch in flight. Its own request then answers with what there is.
pub(super) async fn cancel(
    State(shared): State<Arc<Shared>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let Path(id) = id?;
    if shared.app.registry.cancel_batch(&BatchId::from(id.as_str())) {
        return Ok(StatusCode::ACCEPTED);
    }
    Err(Problem::new(StatusCode::NOT_FOUND, "batch.unknown", format!("no batch `{id}` is in flight")))
}

/// Browsers send other types across origins without asking first.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "the content type must be application/json";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "request.content_type", detail))
}

fn prepare(request: BatchRequest<'_>, shared: &Shared) -> Result<Prepared, Problem> {
    let (parsed, dialect) = parse(&request, shared.max_body_bytes)?;
    let options = options(&request)?;
    if let Some(session) = &request.session {
        check_id("the session", session)?;
    }
    if let Some(turn) = &request.turn {
        check_id("the turn", turn)?;
    }
    let mut context = request.context;
    let tenant = request.tenant.unwrap_or_else(|| context.tenant.clone());
    check_tenant(&tenant)?;
    context.tenant.clone_from(&tenant);
    if context.reasoning.is_empty() {
        context.reasoning = parsed.reasoning;
    }
    if let Some(session) = &request.session {
        context.session_id.clone_from(session);
    }
    let mut policy = request.policy.unwrap_or(shared.app.policy);
    policy.profile = request.profile.unwrap_or(policy.profile);
    let mut batch = ToolBatch::new(parsed.calls).with_context(Arc::new(context)).with_policy(policy);
    if let Some(id) = request.batch_id {
        batch.id = checked_id(&id)?;
    }
    batch.session = request.session.map(|session| SessionKey { tenant: tenant.into(), session: session.into() });
    batch.turn = request.turn.map(|turn| TurnId(turn.into()));
    batch.approvals = request.approvals;
    batch.deadline = request.deadline_ms.map(Duration::from_millis);
    Ok(Prepared { batch, turn: parsed.turn, dialect, options, warnings: parsed.warnings })
}

fn options(request: &BatchRequest<'_>) -> Result<MessageOptions, Problem> {
    let mut options = MessageOptions::default();
    if let Some(ids) = &request.ids {
        options = options.with_ids(ids.parse()?);
    }
    if let Some(media) = &request.media {
        options = options.with_media(media.parse()?);
    }
    Ok(options)
}

fn parse(request: &BatchRequest<'_>, max_bytes: usize) -> Result<(ParsedReply, Dialect), Problem> {
    let named = request.format.as_deref().map(str::parse::<Dialect>).transpose()?;
    match (request.response, &request.chunks, request.calls) {
        (Some(response), None, None) => {
            let dialect = named.map_or_else(|| Dialect::detect(response.get()), Ok)?;
            Ok((dialect.parse(response.get())?, dialect))
        }
        (None, Some(chunks), None) => {
            let missing = || Problem::bad_request("request.invalid", "`chunks` need the `format` of the stream");
            let dialect = named.ok_or_else(missing)?;
            // A chunk may also be the text of one, as it came in a `data:` line.
            let text = |chunk: &&RawValue| {
                serde_json::from_str::<String>(chunk.get()).unwrap_or_else(|_| chunk.get().replace(['\n', '\r'], " "))
            };
            let stream = chunks.iter().map(text).collect::<Vec<_>>().join("\n");
            Ok((dialect.parse_stream(&stream, max_bytes)?, dialect))
        }
        (None, None, Some(calls)) => Ok((Dialect::Native.parse(calls.get())?, named.unwrap_or(Dialect::Native))),
        _ => Err(Problem::bad_request("request.invalid", "give one of `response`, `chunks` and `calls`")),
    }
}

/// An id must fit into an address.
fn checked_id(id: &str) -> Result<BatchId, Problem> {
    let legal =
        !id.is_empty() && id.len() <= 128 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
    if legal {
        return Ok(BatchId::from(id));
    }
    let detail = "batch_id must have 1 to 128 characters of letters, digits, `-`, `_`, `.` and `:`";
    Err(Problem::bad_request("request.invalid", detail))
}

/// A client that leaves drops its request's future, and with it this.
struct CancelOnDrop(Option<BatchHandle>);

// === impl CancelOnDrop ===

impl CancelOnDrop {
    async fn outcome(mut self) -> Option<BatchOutcome> {
        let handle = self.0.as_mut()?;
        let outcome = handle.wait().await;
        self.0 = None;
        outcome
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.cancel();
        }
    }
}

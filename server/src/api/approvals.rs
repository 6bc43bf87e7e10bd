//! Approvals: what waits for a person, deciding it, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use toolyard::{Approval, ApprovalControl, ApprovalError, ApprovalFilter, ApprovalScope, ApprovalState};

use super::Shared;
use super::batches::check_content_type;
use super::object::read_object;
use super::problem::Problem;

/// How long a request may wait for an outcome.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Approvals of one answer.
const MAX_LISTED: usize = 1000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    tenant: Option<String>,
    session: Option<String>,
    /// A state, or `all`; pending where absent.
    state: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitQuery {
    #[serde(default)]
    wait_ms: u64,
    /// Whose approval it is to be; whoever's where absent.
    tenant: Option<String>,
}

/// Whose approval is decided; whoever's where absent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhoseQuery {
    tenant: Option<String>,
}

/// What somebody decides. An empty body is one without anything in it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Decided {
    /// Whether later calls of the tool in the session are agreed to as well.
    scope: ApprovalScope,
    /// Why, when the call is declined; the model is told.
    reason: Option<String>,
    /// Who decides, for the record.
    by: String,
    /// How long to wait for the outcome, up to a minute.
    wait_ms: u64,
}

/// The approvals of a tenant, a session, or all; the oldest first.
pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let Query(ListQuery { tenant, session, state, limit }) = query?;
    let default = ApprovalFilter::default();
    let state = state.map_or(Ok(default.state), |state| read_state(&state))?;
    let limit = limit.unwrap_or(default.limit).min(MAX_LISTED);
    let filter = ApprovalFilter { tenant, session, state, limit };
    Ok(Json(json!({"approvals": shared.app.registry.approvals().list(&filter).await?})))
}

/// One approval, with its outcome once it is over.
pub(super) async fn one(
    State(shared): State<Arc<Shared>>,
    id: Result<Path<String>, PathRejection>,
    query: Result<Query<WaitQuery>, QueryRejection>,
) -> Result<Json<Approval>, Problem> {
    let (Path(id), Query(WaitQuery { wait_ms, tenant })) = (id?, query?);
    check_owner(&shared, &id, tenant.as_deref()).await?;
    Ok(Json(wait(&shared.app.registry.approvals(), &id, wait_ms).await?))
}

/// Agrees to a call, which then runs.
pub(super) async fn approve(
    State(shared): State<Arc<Shared>>,
    id: Result<Path<String>, PathRejection>,
    whose: Result<Query<WhoseQuery>, QueryRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Approval>, Problem> {
    let (Path(id), Query(WhoseQuery { tenant })) = (id?, whose?);
    check_owner(&shared, &id, tenant.as_deref()).await?;
    let Decided { scope, reason, by, wait_ms } = read(&headers, &body?)?;
    if reason.is_some() {
        return Err(Problem::bad_request(
            "request.invalid",
            "a `reason` is given to decline a call, not to approve it",
        ));
    }
    let approvals = shared.app.registry.approvals();
    match scope {
        ApprovalScope::Call => approvals.approve(&id, &by).await?,
        ApprovalScope::Session => approvals.approve_for_session(&id, &by).await?,
    };
    Ok(Json(wait(&approvals, &id, wait_ms).await?))
}

/// Declines a call.
pub(super) async fn deny(
    State(shared): State<Arc<Shared>>,
    id: Result<Path<String>, PathRejection>,
    whose: Result<Query<WhoseQuery>, QueryRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Approval>, Problem> {
    let (Path(id), Query(WhoseQuery { tenant })) = (id?, whose?);
    check_owner(&shared, &id, tenant.as_deref()).await?;
    let Decided { scope, reason, by, .. } = read(&headers, &body?)?;
    if scope != ApprovalScope::Call {
        return Err(Problem::bad_request("request.invalid", "a call is declined alone; leave `scope` out"));
    }
    Ok(Json(shared.app.registry.approvals().deny(&id, &by, reason.as_deref()).await?))
}

/// To another tenant than its own an approval is not there.
async fn check_owner(shared: &Shared, id: &str, tenant: Option<&str>) -> Result<(), Problem> {
    let Some(tenant) = tenant else { return Ok(()) };
    let approval = shared.app.registry.approvals().get(id).await?;
    if approval.tenant == tenant { Ok(()) } else { Err(ApprovalError::Unknown(id.to_owned()).into()) }
}

/// The approval when it is over, or as it is when that takes too long.
async fn wait(approvals: &ApprovalControl, id: &str, wait_ms: u64) -> Result<Approval, ApprovalError> {
    let time = Duration::from_millis(wait_ms).min(MAX_WAIT);
    match tokio::time::timeout(time, approvals.outcome(id)).await {
        // Nobody decides any more where the daemon stops: it is told as it is.
        Ok(Err(ApprovalError::Closed)) | Err(_) => approvals.get(id).await,
        Ok(over) => over,
    }
}

/// A browser's form has another type: no page elsewhere can approve anything.
fn read(headers: &HeaderMap, body: &Bytes) -> Result<Decided, Problem> {
    check_content_type(headers)?;
    if body.is_empty() {
        return Ok(Decided::default());
    }
    read_object(body)
}

fn read_state(state: &str) -> Result<Option<ApprovalState>, Problem> {
    if state == "all" {
        return Ok(None);
    }
    serde_json::from_value(Value::from(state)).map(Some).map_err(|_unknown| {
        let detail = "`state` is all, pending, approved, started, settled, denied, expired or withdrawn";
        Problem::bad_request("request.invalid", detail)
    })
}

//! Acting without a model: one tool, for a person at a screen or for a scheduler.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolyard::{Actor, CallResult, Invoke, JsonText, SessionKey, ToolExecutionContext};

use super::Shared;
use super::batches::check_content_type;
use super::object::read_object;
use super::problem::Problem;
use super::sessions::{check_id, check_tenant};

/// A tool to run, by its id or its model name. With `ttl_ms` it is read through the cache.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InvokeRequest<'a> {
    tool: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    actor: Acting,
    tenant: Option<String>,
    session: Option<String>,
    #[serde(default)]
    context: ToolExecutionContext,
    ttl_ms: Option<u64>,
    deadline_ms: Option<u64>,
}

/// Who may act without a model.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Acting {
    #[default]
    User,
    Scheduler,
}

/// A result, and whether it was there already.
#[derive(Debug, Serialize)]
pub(super) struct InvokeDocument {
    #[serde(flatten)]
    result: Arc<CallResult>,
    cached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_ms: Option<u64>,
}

/// Runs one tool and answers with its result. A client that leaves cancels it; a shared read goes on for the others.
pub(super) async fn run(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<InvokeDocument>, Problem> {
    let body = body?;
    check_content_type(&headers)?;
    let request: InvokeRequest<'_> = read_object(&body)?;
    let ttl = request.ttl_ms.map(Duration::from_millis);
    if let Some(session) = &request.session {
        check_id("the session", session)?;
    }
    check_tenant(request.tenant.as_deref().unwrap_or(&request.context.tenant))?;
    let invoke = request.read();
    drop(body);
    let registry = &shared.app.registry;
    let (result, age) = match ttl {
        Some(ttl) => {
            let read = registry.read_cached(invoke, ttl).await;
            (read.result, read.age)
        }
        None => (Arc::new(registry.invoke_as(invoke).await), None),
    };
    let age_ms = age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    Ok(Json(InvokeDocument { result, cached: age.is_some(), age_ms }))
}

// === impl InvokeRequest ===

impl InvokeRequest<'_> {
    fn read(self) -> Invoke {
        let mut context = self.context;
        if let Some(tenant) = self.tenant {
            context.tenant = tenant;
        }
        if let Some(session) = &self.session {
            context.session_id.clone_from(session);
        }
        let actor = match self.actor {
            Acting::User => Actor::User,
            Acting::Scheduler => Actor::Scheduler,
        };
        let tenant = Arc::from(context.tenant.as_str());
        let input = self.input.map_or_else(|| JsonText::object([]), JsonText::from);
        let mut invoke = Invoke::new(self.tool, input, actor).with_context(Arc::new(context));
        invoke.session = self.session.map(|session| SessionKey { tenant, session: session.into() });
        invoke.deadline = self.deadline_ms.map(Duration::from_millis);
        invoke
    }
}

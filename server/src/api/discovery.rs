//! What a model of some session sees: definitions, catalogue, search, guides, preview, context.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolyard::{ContextRequest, DefinitionForm, SessionKey, StrictMode, ToolExecutionContext, ToolQuery, ToolRegistry};

use super::Shared;
use super::batches::check_content_type;
use super::object::read_object;
use super::problem::Problem;
use super::sessions::{check_id, check_tenant};

/// For whom tools are listed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ViewRequest {
    session: Option<String>,
    tenant: Option<String>,
    context: ToolExecutionContext,
}

/// The same, in a vendor's form.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FormRequest {
    session: Option<String>,
    tenant: Option<String>,
    context: ToolExecutionContext,
    format: Option<String>,
    strict: Option<String>,
}

/// What to look for, and for whom.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchRequest {
    session: Option<String>,
    tenant: Option<String>,
    #[serde(default)]
    context: ToolExecutionContext,
    query: String,
    limit: Option<usize>,
}

/// A turn that is about to begin.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TurnRequest {
    session: Option<String>,
    tenant: Option<String>,
    context: ToolExecutionContext,
    text: String,
}

/// Whoever's model it is.
struct Viewer {
    registry: ToolRegistry,
    context: Arc<ToolExecutionContext>,
    session: Option<SessionKey>,
}

/// The definitions that a session's model is given.
pub(super) async fn definitions(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let FormRequest { session, tenant, context, format, strict } = read(&headers, &body?)?;
    let (form, strict) = form(format, strict)?;
    let viewer = Viewer::new(&shared, session, tenant, context).await?;
    answer(&shared, move || Ok(json!({"tools": viewer.registry.define(viewer.query(), form, strict).document}))).await
}

/// What the session's model can still load, also as a block for its prompt.
pub(super) async fn catalogue(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let ViewRequest { session, tenant, context } = read(&headers, &body?)?;
    let viewer = Viewer::new(&shared, session, tenant, context).await?;
    let write = move || {
        let catalogue = viewer.registry.catalogue(viewer.query());
        Ok(json!({"catalogue": catalogue, "text": catalogue.text(viewer.context.locale)}))
    };
    answer(&shared, write).await
}

/// What `tool_search` would find. Loads nothing.
pub(super) async fn search(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let SearchRequest { session, tenant, context, query, limit } = read(&headers, &body?)?;
    let viewer = Viewer::new(&shared, session, tenant, context).await?;
    let look = move || match viewer.registry.search_tools(viewer.query(), &query, limit) {
        Ok(found) => Ok(json!({"tools": found})),
        Err(error) => Err(Problem::bad_request("request.invalid", error.to_string())),
    };
    answer(&shared, look).await
}

/// What plugins say of their tools, also as blocks for the prompt.
pub(super) async fn guides(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let ViewRequest { session, tenant, context } = read(&headers, &body?)?;
    let viewer = Viewer::new(&shared, session, tenant, context).await?;
    let write = move || {
        let guides = viewer.registry.guides(viewer.query());
        Ok(json!({"guides": guides, "text": guides.text()}))
    };
    answer(&shared, write).await
}

/// Every tool as the session's model would see it, or why it would not.
pub(super) async fn preview(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let FormRequest { session, tenant, context, format, strict } = read(&headers, &body?)?;
    let (form, strict) = form(format, strict)?;
    let viewer = Viewer::new(&shared, session, tenant, context).await?;
    let write = move || {
        let preview = viewer.registry.preview(viewer.query(), form, strict);
        serde_json::to_value(&preview).map_err(|error| Problem::internal(&error))
    };
    answer(&shared, write).await
}

/// What context providers say before a turn, also as blocks for the prompt.
pub(super) async fn context(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let TurnRequest { session, tenant, context, text } = read(&headers, &body?)?;
    let Viewer { registry, context, session } = Viewer::new(&shared, session, tenant, context).await?;
    let locale = context.locale;
    let request = ContextRequest::new(text, context);
    let request = match session {
        Some(session) => request.of_session(session),
        None => request,
    };
    let gathered = registry.gather_context(request).await;
    answer(&shared, move || {
        Ok(json!({
            "facts": gathered.facts,
            "late": gathered.late,
            "failed": gathered.failed,
            "text": gathered.text(locale),
        }))
    })
    .await
}

fn read<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Problem> {
    check_content_type(headers)?;
    read_object(body)
}

fn form(format: Option<String>, strict: Option<String>) -> Result<(DefinitionForm, Option<StrictMode>), Problem> {
    let form = format.map_or(Ok(DefinitionForm::Native), |name| name.parse())?;
    Ok((form, strict.map(|mode| mode.parse()).transpose()?))
}

/// There may be thousands of tools.
async fn answer(
    shared: &Shared,
    work: impl FnOnce() -> Result<Value, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let write = move || serde_json::to_vec(&work()?).map_err(|error| Problem::internal(&error));
    let written = shared.heavy.run(write).await??;
    Ok(([(header::CONTENT_TYPE, "application/json")], written).into_response())
}

// === impl Viewer ===

impl Viewer {
    /// A session that is kept in a store is brought back, so that what it has loaded is seen.
    async fn new(
        shared: &Shared,
        session: Option<String>,
        tenant: Option<String>,
        mut context: ToolExecutionContext,
    ) -> Result<Self, Problem> {
        let registry = shared.app.registry.clone();
        if let Some(tenant) = tenant {
            context.tenant = tenant;
        }
        let mut key = None;
        if let Some(session) = session {
            context.session_id.clone_from(&session);
            let opened = SessionKey { tenant: context.tenant.as_str().into(), session: session.into() };
            check_id("the session", &opened.session)?;
            check_tenant(&opened.tenant)?;
            registry.sessions().restore(&opened).await;
            key = Some(opened);
        }
        Ok(Self { registry, context: Arc::new(context), session: key })
    }

    fn query(&self) -> ToolQuery<'_> {
        ToolQuery { context: &self.context, session: self.session.as_ref() }
    }
}

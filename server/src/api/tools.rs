//! Tools.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use toolyard::{DefinitionForm, ToolExecutionContext};

use super::Shared;
use super::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    format: Option<String>,
    strict: Option<String>,
}

/// The definitions of the tools, in the form asked for.
pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(query) = query?;
    let form = match query.format {
        Some(name) => name.parse()?,
        None => DefinitionForm::Native,
    };
    let strict = query.strict.map(|mode| mode.parse()).transpose()?;
    let registry = shared.app.registry.clone();
    let define = move || {
        let definitions = registry.define(&ToolExecutionContext::default(), form, strict);
        serde_json::to_vec(&json!({"tools": definitions.document})).map_err(|error| Problem::internal(&error))
    };
    let written = shared.heavy.run(define).await??;
    Ok(([(header::CONTENT_TYPE, "application/json")], written).into_response())
}

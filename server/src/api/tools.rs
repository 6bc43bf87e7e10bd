//! Tools and providers.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
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
) -> Result<Json<Value>, Problem> {
    let Query(query) = query?;
    let form = match query.format {
        Some(name) => name.parse()?,
        None => DefinitionForm::Native,
    };
    let strict = query.strict.map(|mode| mode.parse()).transpose()?;
    let definitions = shared.app.registry.define(&ToolExecutionContext::default(), form, strict);
    Ok(Json(json!({"tools": definitions.document})))
}

/// Every provider with its state.
pub(super) async fn providers(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({"providers": shared.app.registry.providers()}))
}

//! Pins: what MCP servers say of their tools, as against what they said when they were first seen.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use serde_json::{Value, json};
use toolyard_providers::PinView;

use super::Shared;
use super::problem::Problem;

/// What is pinned of a provider's tools, what is offered, and how they differ.
pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let Path(name) = name?;
    Ok(Json(json!({"pins": shared.app.pins.of(&name)?})))
}

/// Pins what is offered of one tool now. Its provider lists its tools again, which gives the tool free.
pub(super) async fn approve(
    State(shared): State<Arc<Shared>>,
    names: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<PinView>, Problem> {
    let Path((name, tool)) = names?;
    // It writes a file.
    let approved = tokio::task::spawn_blocking(move || shared.app.pins.approve(&name, &tool)).await;
    Ok(Json(approved.map_err(|error| Problem::internal(&error))??))
}

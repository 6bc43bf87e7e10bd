//! Providers: their states, and making them anew.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use toolyard::{ProviderStatus, RegistryError};

use super::Shared;
use super::problem::Problem;

/// How long an answer to a reload is waited for; the reload goes on afterwards.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Every provider with its state.
pub(super) async fn list(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({"providers": shared.app.registry.providers()}))
}

/// One provider with its state.
pub(super) async fn one(
    State(shared): State<Arc<Shared>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<ProviderStatus>, Problem> {
    let Path(name) = name?;
    status(&shared, &name).map(Json)
}

/// Makes a fresh incarnation, swaps it in and gives the provider's new state. A client that leaves, leaves it going.
pub(super) async fn reload(
    State(shared): State<Arc<Shared>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<ProviderStatus>, Problem> {
    let Path(name) = name?;
    match tokio::time::timeout(RELOAD_TIMEOUT, shared.app.registry.reload(&name)).await {
        Ok(reloaded) => reloaded?,
        Err(_elapsed) => {
            let detail = format!("`{name}` has not come up within {} s; it goes on trying", RELOAD_TIMEOUT.as_secs());
            return Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, "provider.starting", detail));
        }
    }
    status(&shared, &name).map(Json)
}

fn status(shared: &Shared, name: &str) -> Result<ProviderStatus, Problem> {
    let providers = shared.app.registry.providers();
    let found = providers.into_iter().find(|provider| *provider.name == *name);
    found.ok_or_else(|| RegistryError::UnknownProvider(name.to_owned()).into())
}

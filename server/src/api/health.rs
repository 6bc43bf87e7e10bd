//! Health, readiness and metrics.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Shared;
use super::problem::Problem;

/// The process answers.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Every provider has had its first start, and every required one is up.
pub(super) async fn readyz(State(shared): State<Arc<Shared>>) -> Response {
    let missing = shared.app.not_ready();
    if missing.is_empty() {
        return "ready\n".into_response();
    }
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", missing.join("; ")).into_response()
}

pub(super) async fn metrics(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    shared.app.registry.publish_metrics();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], shared.metrics.render())
}

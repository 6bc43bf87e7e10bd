//! Results that were cut, whole.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use toolyard::KeptResult;

use super::Shared;
use super::problem::Problem;

/// The whole of a result that was cut, for as long as it is kept.
pub(super) async fn kept(
    State(shared): State<Arc<Shared>>,
    reference: Result<Path<String>, PathRejection>,
) -> Result<Json<Arc<KeptResult>>, Problem> {
    let Path(reference) = reference?;
    match shared.app.registry.kept_result(&reference) {
        Some(whole) => Ok(Json(whole)),
        None => {
            let detail = format!("no result `{reference}` is kept; cut results are kept for some minutes");
            Err(Problem::new(StatusCode::NOT_FOUND, "result.unknown", detail))
        }
    }
}

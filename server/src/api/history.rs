//! Conversations: checked for what vendors refuse, and repaired.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::{HistoryForm, HistoryOptions, HistoryReport, check_history};

use super::batches::check_content_type;
use super::object::read_object;
use super::problem::Problem;

/// A conversation in a vendor's form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryRequest<'a> {
    format: String,
    #[serde(borrow)]
    messages: &'a RawValue,
    ids: Option<String>,
}

/// Says what is wrong with a conversation and gives it back repaired.
pub(super) async fn check(
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<HistoryReport>, Problem> {
    let body = body?;
    check_content_type(&headers)?;
    let request: HistoryRequest<'_> = read_object(&body)?;
    let unusable = |error: String| Problem::bad_request("history.unusable", error);
    let form: HistoryForm =
        request.format.parse().map_err(|error: toolyard::HistoryError| unusable(error.to_string()))?;
    let mut options = HistoryOptions::of(form);
    if let Some(ids) = &request.ids {
        options = options.with_ids(ids.parse()?);
    }
    let report = check_history(form, options, request.messages.get()).map_err(|error| unusable(error.to_string()))?;
    Ok(Json(report))
}

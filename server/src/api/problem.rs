//! Errors of the API, as RFC 9457 problem documents with a stable code. The only place that knows HTTP statuses of errors.

use axum::Json;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use toolyard::{ApprovalError, RegistryError, ReplyError, UnknownIdRule};
use toolyard_providers::PinError;

/// Why a request cannot be served.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    code: &'static str,
    detail: String,
}

// === impl Problem ===

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error");
        Self { kind: "about:blank", title, status: status.as_u16(), code, detail: detail.into() }
    }

    pub(super) fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// Something of Toolyard's own failed; what, is for the log.
    pub(super) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request failed inside Toolyard")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        let is_too_large = rejection.status() == StatusCode::PAYLOAD_TOO_LARGE;
        let code = if is_too_large { "request.too_large" } else { "request.invalid" };
        Self::new(rejection.status(), code, rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), "request.invalid", rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), "request.invalid", rejection.body_text())
    }
}

impl From<ReplyError> for Problem {
    fn from(error: ReplyError) -> Self {
        Self::bad_request("reply.unusable", error.to_string())
    }
}

impl From<UnknownIdRule> for Problem {
    fn from(error: UnknownIdRule) -> Self {
        Self::bad_request("request.invalid", error.to_string())
    }
}

impl From<RegistryError> for Problem {
    fn from(error: RegistryError) -> Self {
        let (status, code) = match &error {
            RegistryError::UnknownProvider(_) => (StatusCode::NOT_FOUND, "provider.unknown"),
            RegistryError::StartFailed { .. } => (StatusCode::BAD_GATEWAY, "provider.start_failed"),
            RegistryError::InvalidName(_) => (StatusCode::BAD_REQUEST, "request.invalid"),
            RegistryError::DuplicateBatch(_) => (StatusCode::CONFLICT, "batch.duplicate"),
            RegistryError::TooManyBatches(_) => (StatusCode::TOO_MANY_REQUESTS, "limit.batches"),
            RegistryError::Closed => (StatusCode::SERVICE_UNAVAILABLE, "cancelled.shutdown"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "registry.unavailable"),
        };
        Self::new(status, code, error.to_string())
    }
}

impl From<ApprovalError> for Problem {
    fn from(error: ApprovalError) -> Self {
        let (status, code) = match &error {
            ApprovalError::Unknown(_) => (StatusCode::NOT_FOUND, "approval.unknown"),
            ApprovalError::Expired => (StatusCode::CONFLICT, "policy.approval_expired"),
            ApprovalError::Decided(_) => (StatusCode::CONFLICT, "approval.decided"),
            ApprovalError::NoSession => (StatusCode::BAD_REQUEST, "approval.no_session"),
            ApprovalError::NotNow(_) => (StatusCode::SERVICE_UNAVAILABLE, "approval.not_now"),
            ApprovalError::Store(_) => (StatusCode::SERVICE_UNAVAILABLE, "approval.storage"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "cancelled.shutdown"),
        };
        Self::new(status, code, error.to_string())
    }
}

impl From<PinError> for Problem {
    fn from(error: PinError) -> Self {
        let (status, code) = match &error {
            PinError::UnknownProvider(_) => (StatusCode::NOT_FOUND, "provider.unknown"),
            PinError::UnknownTool { .. } => (StatusCode::NOT_FOUND, "tool.unknown"),
            PinError::Storage(_) => (StatusCode::SERVICE_UNAVAILABLE, "pins.storage"),
        };
        Self::new(status, code, error.to_string())
    }
}

pub(super) async fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "route.unknown", "there is nothing at this address")
}

pub(super) async fn method_not_allowed() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "route.method", "this address does not take this method")
}

pub(super) fn overloaded() -> Problem {
    let detail = "too many requests are being served; try again later";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "limit.requests", detail)
}

/// What panicked may hold secrets: it is not said.
pub(super) fn panicked(_panic: Box<dyn std::any::Any + Send>) -> Response {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request failed inside Toolyard").into_response()
}

//! The bot backend that connects itself: it takes requests as events or by polling, and brings their answers.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::Shared;
use super::batches::check_content_type;
use super::problem::Problem;
use crate::backend::{Answer, Channel, Consumer, Delivery, RequestId, Settled};

/// Polls and answers that are served at once.
pub(super) const MAX_REQUESTS: usize = 1024;

/// How often an idle stream shows that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// After how long a client whose stream broke should come back.
const RECONNECT: Duration = Duration::from_secs(1);

/// How long a poll waits unless it says otherwise, and at most.
const DEFAULT_WAIT_MS: u64 = 20_000;
const MAX_WAIT_MS: u64 = 60_000;

/// How many requests a poll takes unless it says otherwise, and at most.
const DEFAULT_TAKEN: usize = 16;
const MAX_TAKEN: usize = 256;

const NO_ID: &str = "an answer must have an `id`";

/// How a poll takes requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PollQuery {
    wait_ms: Option<u64>,
    max: Option<usize>,
}

/// What a poll is given.
#[derive(Debug, Default, Serialize)]
pub(super) struct PollDocument {
    requests: Vec<Box<RawValue>>,
    /// Requests that were given out and are of no use any more.
    cancelled: Vec<RequestId>,
}

/// What became of one answer of a list.
#[derive(Debug, Serialize)]
struct AnswerStatus {
    id: Option<String>,
    status: &'static str,
    /// What is wrong with an answer that is `invalid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// An answer of which nothing else can be read.
#[derive(Debug, Deserialize)]
struct Nameplate {
    id: String,
}

/// The stream of requests. The client takes part in the work for as long as it stays connected.
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let consumer = channel(&shared)?.connect().ok_or_else(|| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "limit.consumers", "too many backends are connected")
    })?;
    let stream = stream::unfold((consumer, 0), next_event);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("alive")))
}

/// Waits for requests, and gives what there is.
pub(super) async fn requests(
    State(shared): State<Arc<Shared>>,
    query: Result<Query<PollQuery>, QueryRejection>,
) -> Result<Json<PollDocument>, Problem> {
    let Query(PollQuery { wait_ms, max }) = query?;
    let wait = checked("wait_ms", wait_ms.unwrap_or(DEFAULT_WAIT_MS), 0, MAX_WAIT_MS)?;
    let max = checked("max", max.unwrap_or(DEFAULT_TAKEN), 1, MAX_TAKEN)?;
    let mut given = PollDocument::default();
    for delivery in channel(&shared)?.poll(Duration::from_millis(wait), max).await {
        match delivery {
            Delivery::Request(document) => given.requests.push(document),
            Delivery::Cancelled(id) => given.cancelled.push(id),
        }
    }
    Ok(Json(given))
}

/// Takes one answer in, or a list of them.
pub(super) async fn answers(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let channel = channel(&shared)?;
    let body = body?;
    check_content_type(&headers)?;
    if body.trim_ascii_start().starts_with(b"[") {
        let answers: Vec<&RawValue> = serde_json::from_slice(&body).map_err(|error| unreadable(&error))?;
        let statuses: Vec<AnswerStatus> = answers.into_iter().map(|answer| settle_of_list(channel, answer)).collect();
        return Ok(Json(json!({"answers": statuses})).into_response());
    }
    let answer: Answer = serde_json::from_slice(&body).map_err(|error| unreadable(&error))?;
    settle_one(channel, answer)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn channel(shared: &Shared) -> Result<&Arc<Channel>, Problem> {
    shared.app.backend.channel().ok_or_else(|| {
        let detail = "no backend can connect here: the configuration does not say `[backend]` `kind = \"events\"`";
        Problem::new(StatusCode::NOT_FOUND, "backend.not_events", detail)
    })
}

/// Events are numbered, though nothing is ever sent again.
async fn next_event((mut consumer, sent): (Consumer, u64)) -> Option<(Result<Event, Infallible>, (Consumer, u64))> {
    if sent == 0 {
        let hello = Event::default().comment("connected").retry(RECONNECT);
        return Some((Ok(hello), (consumer, 1)));
    }
    let event = Event::default().id(sent.to_string());
    let event = match consumer.next().await? {
        // Between the values of JSON, line breaks are as good as blanks; within them there are none.
        Delivery::Request(document) => event.event("request").data(document.get().replace(['\r', '\n'], " ")),
        Delivery::Cancelled(id) => event.event("cancelled").data(json!({"id": id}).to_string()),
    };
    Some((Ok(event), (consumer, sent + 1)))
}

fn settle_one(channel: &Channel, answer: Answer) -> Result<(), Problem> {
    let id = answer.id.clone().ok_or_else(|| Problem::bad_request("request.invalid", NO_ID))?;
    answer.check().map_err(|error| Problem::bad_request("request.invalid", error.to_string()))?;
    match channel.settle(&id, answer) {
        Settled::Accepted => Ok(()),
        Settled::Late => {
            let detail = "the request was answered already, or given up";
            Err(Problem::new(StatusCode::GONE, "backend.late_answer", detail))
        }
        Settled::Unknown => {
            let detail = "no request with this id was given out";
            Err(Problem::new(StatusCode::NOT_FOUND, "backend.unknown_request", detail))
        }
    }
}

/// One answer that is wrong does not cost the others. Its request goes on waiting for a right one.
fn settle_of_list(channel: &Channel, written: &RawValue) -> AnswerStatus {
    let answer: Answer = match serde_json::from_str(written.get()) {
        Ok(answer) => answer,
        Err(error) => {
            let id = serde_json::from_str(written.get()).ok().map(|Nameplate { id }| id);
            return AnswerStatus::invalid(id, error.to_string());
        }
    };
    let Some(id) = answer.id.clone() else { return AnswerStatus::invalid(None, NO_ID.to_owned()) };
    if let Err(error) = answer.check() {
        return AnswerStatus::invalid(Some(id), error.to_string());
    }
    let status = match channel.settle(&id, answer) {
        Settled::Accepted => "accepted",
        Settled::Late => "late",
        Settled::Unknown => "unknown",
    };
    AnswerStatus { id: Some(id), status, detail: None }
}

fn unreadable(error: &serde_json::Error) -> Problem {
    Problem::bad_request("request.invalid", format!("the body cannot be read: {error}"))
}

fn checked<T: PartialOrd + std::fmt::Display>(name: &str, given: T, min: T, max: T) -> Result<T, Problem> {
    if given < min || given > max {
        return Err(Problem::bad_request("request.invalid", format!("{name}: must be {min} to {max}, not {given}")));
    }
    Ok(given)
}

// === impl AnswerStatus ===

impl AnswerStatus {
    fn invalid(id: Option<String>, detail: String) -> Self {
        Self { id, status: "invalid", detail: Some(detail) }
    }
}

#[cfg(test)]
mod tests;

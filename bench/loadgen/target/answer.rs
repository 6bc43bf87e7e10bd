//! Reading answers: only what is counted, and nothing of it copied.

use std::time::Duration;

use serde::Deserialize;
use toolyard::CallStatus;

use super::{CallEnd, Loss, Work};

/// The outcome of a batch, as far as it is counted.
#[derive(Debug, Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    results: Vec<Ended<'a>>,
}

#[derive(Debug, Deserialize)]
struct Ended<'a> {
    call_id: &'a str,
    status: CallStatus,
    duration_ms: f64,
}

/// The answer to `tools/call`.
#[derive(Debug, Deserialize)]
struct Response<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<Called<'a>>,
    error: Option<RpcError>,
}

#[derive(Debug, Deserialize)]
struct Called<'a> {
    #[serde(rename = "isError", default)]
    is_error: bool,
    /// Every result has some.
    #[serde(borrow)]
    content: &'a serde_json::value::RawValue,
}

#[derive(Debug, Deserialize)]
struct RpcError {
    code: i64,
}

/// Reads the outcome of a batch whose calls have these ids.
pub(super) fn outcome(body: &[u8], ids: &[String], work: &mut Work) {
    let Ok(outcome) = serde_json::from_slice::<Outcome<'_>>(body) else { return work.lose(Loss::Unreadable) };
    let results = &outcome.results;
    let is_promised = results.len() == work.hand.len() && results.iter().zip(ids).all(|(r, id)| r.call_id == id);
    if !is_promised {
        return work.lose(Loss::Violation);
    }
    let took = |ms: f64| Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default();
    work.ends.extend(results.iter().map(|r| CallEnd { status: Ok(r.status), took: took(r.duration_ms) }));
}

/// Reads the answer to the request `id`: one document, or the last event of a stream.
pub(super) fn response(body: &[u8], is_event_stream: bool, id: u64) -> Result<CallStatus, Loss> {
    if !is_event_stream {
        return one_response(body, id);
    }
    let text = std::str::from_utf8(body).map_err(|_| Loss::Unreadable)?;
    // Progress and logs may come before the answer.
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let answers: Vec<&str> = events.filter(|event| !event.contains("\"method\"")).collect();
    match answers[..] {
        [answer] => one_response(answer.trim().as_bytes(), id),
        [] => Err(Loss::Unreadable),
        _ => Err(Loss::Violation),
    }
}

fn one_response(body: &[u8], id: u64) -> Result<CallStatus, Loss> {
    let response: Response<'_> = serde_json::from_slice(body).map_err(|_| Loss::Unreadable)?;
    if response.id != Some(id) {
        return Err(Loss::Violation);
    }
    match response {
        Response { error: Some(error), .. } => Err(Loss::Rpc(error.code)),
        Response { result: Some(called), .. } if !called.content.get().is_empty() && called.is_error => {
            Ok(CallStatus::ToolError)
        }
        Response { result: Some(_), .. } => Ok(CallStatus::Ok),
        Response { .. } => Err(Loss::Unreadable),
    }
}

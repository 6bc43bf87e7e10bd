//! A request and its answer: one POST, answered as JSON or as a stream of events.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{Method, Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use toolyard::{ErrorCode, ToolFailure};

use super::dialogue::{Agreed, INITIALIZE};
use super::events::{Event, EventParser};
use super::link::Letter;
use super::refused::Refused;
use super::transport::Shared;
use crate::mcp::upstream::failure::{too_large, unanswered, unusable};
use crate::mcp::upstream::transport::{Era, Outgoing, SendFailure};

/// How long the rest of a stream is read behind its answer, so that its connection can be used again.
const REST: Duration = Duration::from_secs(1);
/// Bytes of such a rest.
const MAX_REST: usize = 64 << 10;
/// Pause before a stream that broke off is taken up again, unless the server names one.
pub(in crate::mcp::upstream) const RETRY: Duration = Duration::from_secs(1);
/// Attempts in a row to take a stream up again that give nothing.
const MAX_VAIN_ATTEMPTS: u32 = 3;

/// As much of a message as tells whether it answers a request.
#[derive(Deserialize)]
struct Peek<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    method: Option<IgnoredAny>,
}

/// How a stream ended.
enum StreamEnd {
    Answered,
    /// It ended or broke without an answer; it can be taken up after this event.
    Open {
        last_event: Option<String>,
        retry: Option<Duration>,
        had_events: bool,
        is_broken: bool,
    },
}

/// Sends a request and gives its answer, and whatever comes with it, to the inbox.
///
/// # Errors
/// No answer will come any more.
pub(in crate::mcp::upstream) async fn ask(
    shared: &Arc<Shared>,
    id: u64,
    message: &Outgoing,
) -> Result<(), SendFailure> {
    let agreed = shared.dialogue.now();
    let response = post(shared, &agreed, message).await?;
    if !response.status().is_success() {
        return refuse(shared, &agreed, Some(id), Refused::read(response).await);
    }
    if message.kind.method() == Some(INITIALIZE) {
        shared.dialogue.begin(&response);
    }
    let agreed = if message.kind.method() == Some(INITIALIZE) { shared.dialogue.now() } else { agreed };
    take(shared, &agreed, id, response).await.map_err(SendFailure::Failed)
}

/// Sends a message to which there is no answer.
///
/// # Errors
/// It was not accepted.
pub(in crate::mcp::upstream) async fn tell(shared: &Arc<Shared>, message: &Outgoing) -> Result<(), SendFailure> {
    let agreed = shared.dialogue.now();
    let response = post(shared, &agreed, message).await?;
    if response.status().is_success() {
        rest(response).await;
        return Ok(());
    }
    refuse(shared, &agreed, None, Refused::read(response).await)
}

async fn post(shared: &Shared, agreed: &Agreed, message: &Outgoing) -> Result<Response, SendFailure> {
    let body = Some(Arc::from(message.text.as_str()));
    let headers = agreed.of_post(message);
    let letter = Letter { method: Method::POST, url: shared.link.url().clone(), headers, body };
    shared.link.send(letter).await.map_err(SendFailure::Failed)
}

fn refuse(shared: &Shared, agreed: &Agreed, id: Option<u64>, refused: Refused) -> Result<(), SendFailure> {
    if agreed.session.is_some() && refused.means_lost_session() {
        return Err(SendFailure::SessionLost);
    }
    // A JSON-RPC error is an answer, whatever the status.
    if let Some(id) = id.filter(|id| answers(&refused.body, *id)) {
        shared.inbox.receive(&refused.body, Some(id));
        return Ok(());
    }
    if agreed.opened.is_none() && refused.may_mean_other_era() {
        return Err(SendFailure::WrongEra(shared.link.redacted(&refused.words())));
    }
    let mut failure = refused.failure();
    failure.message = shared.link.redacted(&failure.message).into();
    Err(SendFailure::Failed(failure))
}

/// Takes the answer in.
async fn take(shared: &Arc<Shared>, agreed: &Agreed, id: u64, response: Response) -> Result<(), ToolFailure> {
    if let Some(coding) = response.headers().get(CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        let coding = String::from_utf8_lossy(coding.as_bytes());
        return Err(unusable(format!("the server packs its answer ({coding}), which it was not asked to")));
    }
    if response.status() == StatusCode::ACCEPTED || response.status() == StatusCode::NO_CONTENT {
        return Err(unanswered("the server accepted the request without answering it"));
    }
    match content_type(&response).as_str() {
        "application/json" => take_json(shared, id, response).await,
        "text/event-stream" => take_stream(shared, agreed, id, response).await,
        other => {
            let other: String = other.chars().take(100).collect();
            Err(unusable(format!("the server answers with `{other}`, which is neither JSON nor a stream of events")))
        }
    }
}

async fn take_json(shared: &Shared, id: u64, mut response: Response) -> Result<(), ToolFailure> {
    let max = shared.max_message_bytes;
    let length = response.content_length().and_then(|length| usize::try_from(length).ok());
    if length.is_some_and(|length| length > max) {
        return Err(too_large(max));
    }
    let mut body = Vec::with_capacity(length.unwrap_or_default());
    while let Some(chunk) = response.chunk().await.map_err(|_| broken("the server's answer broke off"))? {
        if body.len() + chunk.len() > max {
            return Err(too_large(max));
        }
        body.extend_from_slice(&chunk);
    }
    // Revision 2025-03-26 lets answers come together.
    let together: Option<Vec<&RawValue>> =
        body.trim_ascii_start().starts_with(b"[").then(|| serde_json::from_slice(&body).ok()).flatten();
    let messages: Vec<&[u8]> = match &together {
        Some(messages) => messages.iter().map(|message| message.get().as_bytes()).collect(),
        None => vec![&body],
    };
    let is_answered = messages.iter().any(|message| answers(message, id));
    messages.iter().for_each(|message| shared.inbox.receive(message, Some(id)));
    if is_answered { Ok(()) } else { Err(unanswered("the server's answer holds no answer to the request")) }
}

/// Reads a stream, and takes it up again where it breaks off before the answer and the server lets it be.
async fn take_stream(shared: &Arc<Shared>, agreed: &Agreed, id: u64, response: Response) -> Result<(), ToolFailure> {
    let mut end = read_stream(shared, id, response).await?;
    let (mut last_event, mut pause) = (None, RETRY);
    let mut vain = 0;
    loop {
        let StreamEnd::Open { last_event: last, retry, had_events, is_broken } = end else { return Ok(()) };
        last_event = last.or(last_event);
        pause = retry.unwrap_or(pause);
        vain = if had_events { 0 } else { vain + 1 };
        let is_modern = agreed.opened.as_ref().is_some_and(|opened| opened.era == Era::Modern);
        let Some(last_event) = last_event.as_deref().filter(|_| !is_modern && vain <= MAX_VAIN_ATTEMPTS) else {
            let message = "the stream of its answer ended before the answer";
            // A server that ends it in good order is there, and may answer others.
            let failure =
                if is_broken { broken(message) } else { unanswered(format!("{message}; the outcome is unknown")) };
            return Err(failure);
        };
        tokio::time::sleep(pause).await;
        end = match resume(shared, agreed, last_event).await? {
            Some(response) => read_stream(shared, id, response).await?,
            None => StreamEnd::Open { last_event: None, retry: None, had_events: false, is_broken: true },
        };
    }
}

/// Takes a stream up again; nothing where that failed and may go better next time.
async fn resume(shared: &Shared, agreed: &Agreed, last_event: &str) -> Result<Option<Response>, ToolFailure> {
    let headers = agreed.of_stream(Some(last_event));
    let letter = Letter { method: Method::GET, url: shared.link.url().clone(), headers, body: None };
    let Ok(response) = shared.link.send(letter).await else { return Ok(None) };
    match response.status() {
        status if status.is_success() && content_type(&response) == "text/event-stream" => Ok(Some(response)),
        status if status.is_server_error() => Ok(None),
        status => Err(broken(&format!(
            "the stream of its answer broke off and cannot be taken up again (HTTP {})",
            status.as_u16()
        ))),
    }
}

async fn read_stream(shared: &Shared, id: u64, mut response: Response) -> Result<StreamEnd, ToolFailure> {
    let mut parser = EventParser::new(shared.max_message_bytes);
    let (mut is_answered, mut had_events) = (false, false);
    let is_broken = loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break false,
            Err(_) => break true,
        };
        for event in parser.push(&chunk) {
            match event {
                Event::TooLarge(_) => return Err(too_large(shared.max_message_bytes)),
                Event::Named(..) => {}
                Event::Message(message) => {
                    had_events = true;
                    is_answered |= answers(&message, id);
                    shared.inbox.receive(&message, Some(id));
                    // In a request's own stream it stands for its answer, whatever it was to be.
                    if is_no_json(&message) {
                        return Err(unusable("the server's answer is no JSON"));
                    }
                }
            }
        }
        if is_answered {
            rest_of_stream(shared, id, parser, response).await;
            return Ok(StreamEnd::Answered);
        }
        // However much more there is of it.
        if parser.is_too_large() {
            return Err(too_large(shared.max_message_bytes));
        }
    };
    had_events |= parser.last_id().is_some();
    let last_event = parser.last_id().map(str::to_owned);
    Ok(StreamEnd::Open { last_event, retry: parser.retry(), had_events, is_broken })
}

/// What comes behind an answer is too late for anybody; it is handed on to be counted.
async fn rest_of_stream(shared: &Shared, id: u64, mut parser: EventParser, mut response: Response) {
    let reading = async {
        let mut bytes = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes += chunk.len();
            for event in parser.push(&chunk) {
                if let Event::Message(message) = event {
                    shared.inbox.receive(&message, Some(id));
                }
            }
            if bytes > MAX_REST {
                break;
            }
        }
    };
    tokio::time::timeout(REST, reading).await.ok();
}

/// Reads the rest of a body that says nothing, so that its connection can be used again.
async fn rest(mut response: Response) {
    let reading = async {
        let mut bytes = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes += chunk.len();
            if bytes > MAX_REST {
                break;
            }
        }
    };
    tokio::time::timeout(REST, reading).await.ok();
}

/// The kind of content, without its parameters.
pub(in crate::mcp::upstream) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let value = value.unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a message is the answer to this request.
pub(in crate::mcp::upstream) fn answers(message: &[u8], id: u64) -> bool {
    let Ok(peek) = serde_json::from_slice::<Peek<'_>>(message) else { return false };
    peek.method.is_none() && peek.id.is_some_and(|given| given.get() == id.to_string())
}

fn is_no_json(message: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(message).is_err()
}

fn broken(message: &str) -> ToolFailure {
    ToolFailure::new(ErrorCode::ProviderCrashed, format!("{message}; the outcome is unknown"))
}

//! The server's own stream (revisions up to 2025-11-25): what it says without being asked.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, Response, StatusCode};
use tokio::time::Instant;

use super::ask::{RETRY, content_type};
use super::events::{Event, EventParser, too_large};
use super::link::Letter;
use super::refused::Refused;
use super::transport::Shared;

/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A stream that held for so long is no sign that anything is wrong.
const LASTING: Duration = Duration::from_secs(5);
/// Time for whoever speaks with the server to open a new session, before a lost one is the end.
const GRACE: Duration = Duration::from_secs(2);

/// What came of one attempt.
enum Heard {
    /// The stream was there, and ended.
    Stream { last_event: Option<String>, retry: Option<Duration>, has_lasted: bool },
    /// It was not there, but may be.
    Nothing,
    /// The server has none.
    Never,
    /// The server has forgotten the session.
    Lost,
}

/// Listens until the server says that it has nothing to say, or the task is ended.
pub(super) async fn listen(shared: &Arc<Shared>) {
    let agreed = shared.dialogue.now();
    let mut last_event = None;
    let (mut retry, mut pause) = (RETRY, RETRY);
    loop {
        let headers = agreed.of_stream(last_event.as_deref());
        let letter = Letter { method: Method::GET, url: shared.link.url().clone(), headers, body: None };
        let heard = match shared.link.send(letter).await {
            Ok(response) => hear(shared, response, agreed.session.is_some()).await,
            Err(_) => Heard::Nothing,
        };
        match heard {
            Heard::Never => return,
            Heard::Lost => {
                tokio::time::sleep(GRACE).await;
                // While somebody asks, the answer will say so; a session that is opened anew has its own listener.
                if shared.is_current(&agreed) && !shared.is_asking() {
                    shared.end("the server has forgotten the session");
                    return;
                }
                pause = (pause * 2).min(MAX_PAUSE);
            }
            Heard::Nothing => pause = (pause * 2).min(MAX_PAUSE),
            Heard::Stream { last_event: last, retry: asked, has_lasted } => {
                last_event = last.or(last_event);
                retry = asked.unwrap_or(retry);
                pause = if has_lasted { retry } else { (pause * 2).min(MAX_PAUSE) };
            }
        }
        tokio::time::sleep(pause).await;
    }
}

async fn hear(shared: &Shared, mut response: Response, has_session: bool) -> Heard {
    let status = response.status();
    if !status.is_success() {
        return match status {
            StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST if has_session => {
                if Refused::read(response).await.means_lost_session() { Heard::Lost } else { Heard::Never }
            }
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => Heard::Nothing,
            _ => Heard::Never,
        };
    }
    if content_type(&response) != "text/event-stream" {
        return Heard::Never;
    }
    let begun = Instant::now();
    let mut parser = EventParser::new(shared.max_message_bytes);
    while let Ok(Some(chunk)) = response.chunk().await {
        for event in parser.push(&chunk) {
            match event {
                Event::Message(message) => shared.inbox.receive(&message, None),
                Event::Named(..) => {}
                Event::TooLarge(ends) => too_large(&*shared.inbox, &ends, shared.max_message_bytes),
            }
        }
    }
    let has_lasted = begun.elapsed() >= LASTING;
    Heard::Stream { last_event: parser.last_id().map(str::to_owned), retry: parser.retry(), has_lasted }
}

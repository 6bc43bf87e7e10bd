//! CallHost: whom a provider asks during a call of an MCP client: the client.
//!
//! Clients of the older revisions are asked at once, on the stream of their own request. Those of 2026-07-28 are asked by
//! the result `input_required`, see [`super::conduct`]. Whatever is not MCP's goes to the bot backend.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use toolyard::{ErrorCode, HostPort, HostRequest, JsonText, ToolFailure};

use super::line::Line;
use super::message::{notification, request as request_text};
use super::meta::LogLevel;
use super::peer::Peer;
use super::session::{Question, Session};

/// Key in a question's `_meta` under which a client of 2026-07-28 finds it among the `inputRequests`. It is taken out.
pub(super) const KEY: &str = "toolyard/inputKey";

/// Answers the providers of one request.
pub(super) struct CallHost {
    peer: Peer,
    line: Line,
    asks: Asks,
    /// Who answers what is not MCP's.
    backend: Arc<dyn HostPort>,
    /// A capability that was needed and that the client does not have.
    missing: Mutex<Option<&'static str>>,
}

/// How the client is asked.
pub(super) enum Asks {
    /// By a request of its own.
    Request(Arc<Session>),
    /// By the result of the call, which waits meanwhile.
    Result {
        asks: mpsc::Sender<Ask>,
        /// Answers that came with the first request, before anybody asked.
        given: Mutex<HashMap<String, JsonText>>,
    },
    /// Not at all: it has no capability for it.
    Nobody,
}

/// A question that waits to be put to the client.
#[derive(Debug)]
pub(super) struct Ask {
    /// The key that the asker wants, if any.
    pub(super) key: Option<String>,
    pub(super) method: &'static str,
    pub(super) params: JsonText,
    pub(super) answer: oneshot::Sender<JsonText>,
}

/// Tells the client that its answer is not awaited any more.
struct Withdrawal {
    line: Line,
    question: Question,
    is_answered: bool,
}

// === impl CallHost ===

impl CallHost {
    pub(super) fn new(peer: Peer, line: Line, asks: Asks, backend: Arc<dyn HostPort>) -> Self {
        Self { peer, line, asks, backend, missing: Mutex::new(None) }
    }

    /// A capability that was needed and that the client does not have, as it is written in `capabilities`.
    pub(super) fn missing(&self) -> Option<&'static str> {
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, method: &'static str, params: JsonText) -> Result<JsonText, ToolFailure> {
        if let Some(missing) = self.lacks(method, &params) {
            *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = Some(missing);
            let message = format!("the MCP client did not declare the capability `{missing}`");
            return Err(ToolFailure::not_sent(ErrorCode::ToolUnavailable, message));
        }
        let (key, params) = take_key(params);
        match &self.asks {
            Asks::Nobody => Err(gone()),
            Asks::Request(session) => self.ask_at_once(session, method, &params).await,
            Asks::Result { asks, given } => {
                let known =
                    key.as_ref().and_then(|key| given.lock().unwrap_or_else(PoisonError::into_inner).remove(key));
                if let Some(answer) = known {
                    return Ok(answer);
                }
                let (sender, answer) = oneshot::channel();
                let ask = Ask { key, method, params, answer: sender };
                asks.send(ask).await.map_err(|_| gone())?;
                answer.await.map_err(|_| gone())
            }
        }
    }

    async fn ask_at_once(
        &self,
        session: &Arc<Session>,
        method: &str,
        params: &JsonText,
    ) -> Result<JsonText, ToolFailure> {
        let question = session.ask();
        let text = request_text(question.id, method, params);
        let mut asked = Withdrawal { line: self.line.clone(), question, is_answered: false };
        let outlet = self.line.outlet();
        if !outlet.send(text).await {
            return Err(gone());
        }
        let answer = tokio::select! {
            answer = &mut asked.question.answer => answer,
            () = outlet.closed() => return Err(gone()),
        };
        asked.is_answered = true;
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                let message = format!("the MCP client answered with the error {}: {}", error.code, error.message());
                Err(ToolFailure::new(ErrorCode::ToolFailed, message))
            }
            Err(_) => Err(gone()),
        }
    }

    /// The capability that this question needs and the client lacks.
    fn lacks(&self, method: &str, params: &JsonText) -> Option<&'static str> {
        let has = self.peer.capabilities;
        let (has_it, name) = match method {
            "sampling/createMessage" => (has.sampling, "sampling"),
            "roots/list" => (has.roots, "roots"),
            _ => {
                let by_url = params.member("mode").and_then(|mode| mode.text()).is_some_and(|mode| mode == "url");
                (if by_url { has.url_elicitation } else { has.elicitation }, "elicitation")
            }
        };
        if has_it { None } else { Some(name) }
    }

    fn log(&self, params: &JsonText) {
        if self.peer.wants_line(LogLevel::of_line(params)) {
            self.line.tell(notification("notifications/message", params));
        }
    }
}

impl HostPort for CallHost {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let method = match request.capability.as_str() {
            "sampling.create" => "sampling/createMessage",
            "elicitation.create" => "elicitation/create",
            "roots.list" => "roots/list",
            "log.message" => {
                self.log(&request.payload);
                return Box::pin(std::future::ready(Ok(JsonText::object([]))));
            }
            _ => return self.backend.request(request),
        };
        Box::pin(self.ask(method, request.payload))
    }
}

impl fmt::Debug for CallHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallHost")
    }
}

/// Takes the key out that the asker wants its question to have.
fn take_key(params: JsonText) -> (Option<String>, JsonText) {
    if !params.as_str().contains(KEY) {
        return (None, params);
    }
    let Some(meta) = params.member("_meta").and_then(|meta| meta.members()) else { return (None, params) };
    let key = meta.iter().find(|(key, _)| key == KEY).and_then(|(_, value)| value.text());
    let meta: Vec<_> = meta.into_iter().filter(|(key, _)| key != KEY).collect();
    let rest = params.members().unwrap_or_default();
    let meta = JsonText::object(meta.iter().map(|(key, value)| (key.as_str(), value.clone())));
    let members = rest.iter().filter(|(key, _)| key != "_meta" || meta.as_str() != "{}").map(|(key, value)| {
        let value = if key == "_meta" { meta.clone() } else { value.clone() };
        (key.as_str(), value)
    });
    (key, JsonText::object(members))
}

fn gone() -> ToolFailure {
    ToolFailure::not_sent(ErrorCode::ToolUnavailable, "the MCP client does not listen any more")
}

// === impl Withdrawal ===

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if !self.is_answered {
            let id = JsonText::from(serde_json::Value::from(self.question.id));
            let params = JsonText::object([("requestId", id)]);
            self.line.tell(notification("notifications/cancelled", &params));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_question_is_taken_out_of_it() {
        let taken = |text: &str| {
            let (key, rest) = take_key(JsonText::parse(text).unwrap());
            (key, rest.as_str().to_owned())
        };
        assert_eq!(
            taken(r#"{"message":"m","_meta":{"toolyard/inputKey":"k"}}"#),
            (Some("k".to_owned()), r#"{"message":"m"}"#.to_owned())
        );
        assert_eq!(
            taken(r#"{"_meta":{"toolyard/inputKey":"k","a":1}}"#),
            (Some("k".to_owned()), r#"{"_meta":{"a":1}}"#.to_owned())
        );
        assert_eq!(taken(r#"{"_meta":{"a":1}}"#), (None, r#"{"_meta":{"a":1}}"#.to_owned()));
    }
}

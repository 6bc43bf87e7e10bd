//! What a session offers beside tools, as the hub knows it.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{ErrorCode, JsonText, ToolFailure};

use super::connection::{Asker, Refusal, RpcError};
use super::failure::unusable;
use super::rounds::{self, Asked};
use super::session::Session;
use crate::mcp::hub::{McpFeatures, McpRefusal, McpRequest};

const INVALID_PARAMS: i64 = -32602;

impl McpFeatures for Session {
    fn capabilities(&self) -> JsonText {
        self.server().capabilities.clone()
    }

    fn instructions(&self) -> Option<String> {
        self.server().instructions.clone()
    }

    fn request(&self, request: McpRequest) -> BoxFuture<'_, Result<JsonText, McpRefusal>> {
        Box::pin(async move {
            if let Some(answer) = self.in_place(&request) {
                return answer;
            }
            match tokio::time::timeout_at(request.deadline, self.relay(&request)).await {
                Ok(Err(Refusal::Failed(failure))) => {
                    Err(McpRefusal::Failed(self.connection.secrets().hidden_in_failure(failure.into_failure())))
                }
                Ok(answer) => answer.map_err(McpRefusal::from).and_then(|answer| readable(&request.method, answer)),
                Err(_elapsed) => {
                    let message = format!("the server did not answer `{}` in time", request.method);
                    Err(McpRefusal::Failed(ToolFailure::new(ErrorCode::DeadlineExceeded, message)))
                }
            }
        })
    }
}

/// Entries of lists stand for themselves, and are looked at one by one by whoever hands them on.
fn readable(method: &str, answer: JsonText) -> Result<JsonText, McpRefusal> {
    match answer.check_readable() {
        Err(unreadable) if !method.ends_with("/list") => {
            Err(McpRefusal::Failed(unusable(format!("the server's answer to `{method}` {unreadable}"))))
        }
        _ => Ok(answer),
    }
}

// === impl Session ===

impl Session {
    async fn relay(&self, request: &McpRequest) -> Result<JsonText, Refusal> {
        let asker = Arc::new(Asker::other(request.host.clone(), [&request.tenant, &request.session], request.deadline));
        let name = match &*request.method {
            "prompts/get" => request.params.member("name"),
            "resources/read" => request.params.member("uri"),
            _ => None,
        };
        let params = |inputs: &[(&'static str, JsonText)], _id| {
            let params = self.connection.envelope().around(&request.params);
            if inputs.is_empty() {
                return params;
            }
            let members = params.members().unwrap_or_default();
            let members = members.iter().map(|(key, value)| (key.as_str(), value.clone()));
            JsonText::object(members.chain(inputs.iter().cloned()))
        };
        let name = name.and_then(|name| name.text());
        let asked = Asked { method: Arc::clone(&request.method), name, mirrored: Vec::new(), params };
        rounds::ask(self, &asker, asked).await.map(|answered| answered.result)
    }

    /// What has no method of its own since 2026-07-28.
    fn in_place(&self, request: &McpRequest) -> Option<Result<JsonText, McpRefusal>> {
        if !self.is_modern() {
            return None;
        }
        let text = |key: &str| request.params.member(key).and_then(|value| value.text());
        let (key, done) = match &*request.method {
            "logging/setLevel" => (
                "level",
                text("level").map(|level| {
                    let envelope = self.connection.envelope().with_log_level(JsonText::string(&level));
                    self.connection.set_envelope(envelope);
                    true
                }),
            ),
            "resources/subscribe" => ("uri", text("uri").map(|uri| self.subscriptions.add(uri))),
            "resources/unsubscribe" => (
                "uri",
                text("uri").map(|uri| {
                    self.subscriptions.remove(&uri);
                    true
                }),
            ),
            _ => return None,
        };
        Some(match done {
            Some(true) => Ok(JsonText::object([])),
            Some(false) => Err(invalid("too many resources are subscribed to".to_owned())),
            None => Err(invalid(format!("`{key}` must be text"))),
        })
    }
}

fn invalid(message: String) -> McpRefusal {
    McpRefusal::Error { code: INVALID_PARAMS, message, data: None }
}

// === impl McpRefusal ===

impl From<Refusal> for McpRefusal {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Error(RpcError { code, message, data, .. }) => Self::Error { code, message, data },
            Refusal::Failed(failure) => Self::Failed(failure.into_failure()),
        }
    }
}

//! Bridge: what a server asks of its client (sampling, elicitation, roots) goes to the bot backend.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{AbortHandle, AbortRegistration, Abortable};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use toolyard::{ErrorCode, HostCaller, HostPort, HostRequest, JsonText, ToolFailure};

use super::config::{McpOffer, McpOptions};
use super::connection::ServerRequest;

/// Requests of one server that are answered at a time.
const AT_ONCE: usize = 32;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_REQUEST: i64 = -32600;
const INTERNAL: i64 = -32603;
/// How clients say that a person has declined (2025-11-25, sampling).
const DECLINED: i64 = -1;

/// What servers may ask, and what of it is under way.
#[derive(Debug)]
pub(super) struct Bridge {
    provider: Arc<str>,
    options: McpOptions,
    running: Arc<Running>,
}

type Running = Mutex<HashMap<Arc<str>, AbortHandle>>;

/// A request that has a place among those under way.
#[derive(Debug)]
pub(super) struct BridgedRequest {
    request: ServerRequest,
    capability: &'static str,
    registration: AbortRegistration,
    place: Place,
}

/// Who answers a request, for whom, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behalf<'a> {
    pub(super) host: &'a Arc<dyn HostPort>,
    pub(super) caller: Option<&'a HostCaller>,
    pub(super) deadline: Instant,
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Admitted {
    /// It is answered with this message.
    Answered(JsonText),
    /// It goes to the bot backend.
    Bridged(BridgedRequest),
}

#[derive(Debug)]
struct Place {
    running: Arc<Running>,
    id: Arc<str>,
}

// === impl Bridge ===

impl Bridge {
    pub(super) fn new(provider: Arc<str>, options: McpOptions) -> Self {
        Self { provider, options, running: Arc::default() }
    }

    /// What a client declares of itself.
    pub(super) fn capabilities(&self) -> JsonText {
        let mut capabilities = Map::new();
        if self.options.offers(McpOffer::Sampling) {
            capabilities.insert("sampling".to_owned(), json!({}));
        }
        if self.options.offers(McpOffer::ElicitationUrl) {
            capabilities.insert("elicitation".to_owned(), json!({"form": {}, "url": {}}));
        } else if self.options.offers(McpOffer::Elicitation) {
            capabilities.insert("elicitation".to_owned(), json!({}));
        }
        if self.has_roots() {
            capabilities.insert("roots".to_owned(), json!({}));
        }
        Value::Object(capabilities).into()
    }

    /// Looks at a request: some are answered in place.
    pub(super) fn admit(&self, request: ServerRequest) -> Admitted {
        if request.method == "ping" {
            return Admitted::Answered(result(&request.id, &JsonText::object([])));
        }
        if let Err(unreadable) = request.params.check_readable() {
            let message = format!("what it asks {unreadable}");
            return Admitted::Answered(error(&request.id, INVALID_REQUEST, &message));
        }
        let capability = match self.capability(&request.method) {
            Ok(capability) => capability,
            Err(message) => return Admitted::Answered(error(&request.id, METHOD_NOT_FOUND, &message)),
        };
        if let Some(roots) = self.own_roots(&request.method) {
            return Admitted::Answered(result(&request.id, &roots));
        }
        let (id, mut running): (Arc<str>, _) = (request.id.as_str().into(), lock(&self.running));
        if running.contains_key(&id) {
            return Admitted::Answered(error(&request.id, INVALID_REQUEST, "this id is in use"));
        }
        if running.len() >= AT_ONCE {
            return Admitted::Answered(error(&request.id, INTERNAL, "too many requests are under way"));
        }
        let (handle, registration) = AbortHandle::new_pair();
        running.insert(Arc::clone(&id), handle);
        let place = Place { running: Arc::clone(&self.running), id };
        Admitted::Bridged(BridgedRequest { request, capability, registration, place })
    }

    /// Answers a request, as a whole message. Nothing when the server took it back.
    pub(super) async fn answer(&self, bridged: BridgedRequest, behalf: Behalf<'_>) -> Option<JsonText> {
        let BridgedRequest { request, capability, registration, place } = bridged;
        let asked = Abortable::new(self.ask_host(capability, request.params, behalf), registration).await;
        drop(place);
        Some(match asked.ok()? {
            Ok(answer) => result(&request.id, &answer),
            Err(failure) => error(&request.id, code(&failure), &failure.message),
        })
    }

    /// Answers one input of a result that asks for more (2026-07-28).
    ///
    /// # Errors
    /// It is not offered, or not answered.
    pub(super) async fn input(
        &self,
        method: &str,
        params: JsonText,
        behalf: Behalf<'_>,
    ) -> Result<JsonText, ToolFailure> {
        let capability = self.capability(method).map_err(|message| {
            ToolFailure::new(ErrorCode::ToolFailed, format!("the server asks in vain: {message}"))
        })?;
        match self.own_roots(method) {
            Some(roots) => Ok(roots),
            None => self.ask_host(capability, params, behalf).await,
        }
    }

    /// Tells a call's own host a line of the server's log. Says whether that host takes any.
    pub(super) async fn log(&self, params: JsonText, behalf: Behalf<'_>) -> bool {
        let told = self.ask_host("log.message", params, behalf).await;
        !told.is_err_and(|failure| matches!(failure.code, ErrorCode::ToolUnavailable | ErrorCode::DeadlineExceeded))
    }

    /// The server does not want an answer any more.
    pub(super) fn take_back(&self, id: &JsonText) {
        if let Some(handle) = lock(&self.running).get(id.as_str()) {
            handle.abort();
        }
    }

    async fn ask_host(
        &self,
        capability: &'static str,
        payload: JsonText,
        behalf: Behalf<'_>,
    ) -> Result<JsonText, ToolFailure> {
        let request = HostRequest {
            capability: capability.to_owned(),
            payload,
            provider: Arc::clone(&self.provider),
            caller: behalf.caller.cloned(),
            deadline: behalf.deadline,
        };
        match tokio::time::timeout_at(behalf.deadline, behalf.host.request(request)).await {
            Ok(answered) => answered,
            Err(_elapsed) => {
                Err(ToolFailure::new(ErrorCode::DeadlineExceeded, format!("no answer to `{capability}` in time")))
            }
        }
    }

    fn capability(&self, method: &str) -> Result<&'static str, String> {
        let (capability, is_offered) = match method {
            "sampling/createMessage" => ("sampling.create", self.options.offers(McpOffer::Sampling)),
            "elicitation/create" => {
                let offers = [McpOffer::Elicitation, McpOffer::ElicitationUrl];
                ("elicitation.create", offers.into_iter().any(|offer| self.options.offers(offer)))
            }
            "roots/list" => ("roots.list", self.has_roots()),
            other => {
                let name: String = other.chars().take(60).collect();
                return Err(format!("the client has no method `{name}`"));
            }
        };
        is_offered.then_some(capability).ok_or_else(|| format!("the client does not offer `{method}`"))
    }

    fn has_roots(&self) -> bool {
        !self.options.roots.is_empty() || self.options.offers(McpOffer::Roots)
    }

    fn own_roots(&self, method: &str) -> Option<JsonText> {
        let is_own = method == "roots/list" && !self.options.roots.is_empty();
        is_own.then(|| json!({"roots": self.options.roots}).into())
    }
}

// === impl Place ===

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.running).remove(&self.id);
    }
}

fn lock(running: &Running) -> MutexGuard<'_, HashMap<Arc<str>, AbortHandle>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn code(failure: &ToolFailure) -> i64 {
    match failure.code {
        ErrorCode::ToolUnavailable => METHOD_NOT_FOUND,
        ErrorCode::PolicyDenied => DECLINED,
        _ => INTERNAL,
    }
}

fn result(id: &JsonText, result: &JsonText) -> JsonText {
    let version = JsonText::string("2.0");
    JsonText::object([("jsonrpc", version), ("id", id.clone()), ("result", result.clone())])
}

fn error(id: &JsonText, code: i64, message: &str) -> JsonText {
    let error = json!({"code": code, "message": message}).into();
    JsonText::object([("jsonrpc", JsonText::string("2.0")), ("id", id.clone()), ("error", error)])
}

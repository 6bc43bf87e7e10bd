//! Requests during which providers may ask their client: `tools/call`, `prompts/get`, `resources/read`.
//!
//! A client of 2026-07-28 is asked by the result `input_required`. The request goes on in a task of its own meanwhile, and
//! the client comes back to it with the answers and the state that it was given.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use toolyard::JsonText;
use uuid::Uuid;

use super::Shared;
use super::error::RpcError;
use super::held::{Held, Outcome};
use super::host::{Ask, Asks, CallHost};
use super::line::{Line, Outlet};
use super::message::{Request, present};
use super::peer::Peer;
use super::{call, prompts, resources};

/// Questions of one request that may wait to be put to its client.
const MAX_ASKS: usize = 16;
/// How long further questions are waited for, so that those asked at once are put together.
const GATHER: Duration = Duration::from_millis(3);

/// What a client that comes back brings with it, and what the request is about.
#[derive(Deserialize)]
struct Opening<'a> {
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "inputResponses", borrow, default, deserialize_with = "present")]
    responses: Option<&'a RawValue>,
    #[serde(rename = "requestState")]
    state: Option<String>,
}

/// Serves a request of one of the three methods.
pub(super) async fn conduct(shared: &Arc<Shared>, request: &Request, peer: &Peer, outlet: &Outlet) -> Outcome {
    let token = request.meta().progress_token;
    if let Some(session) = &peer.session {
        let line = Line::new(outlet.clone(), token);
        return perform(shared, request, peer, &line, Asks::Request(Arc::clone(session))).await;
    }
    let opening: Opening<'_> = request.read()?;
    let given = opening.responses.map(answers).transpose()?.unwrap_or_default();
    let about = opening.name.or(opening.uri).unwrap_or_default();
    let subject = [&*peer.tenant, &*request.method, &*about].join("\n");
    if let Some(state) = opening.state {
        let mut held = shared.held.take(&state, &subject)?;
        held.line.switch(outlet.clone(), token);
        held.answer(given);
        return drive(shared, held, &subject).await;
    }
    let line = Line::new(outlet.clone(), token);
    if !peer.capabilities.any() {
        return perform(shared, request, peer, &line, Asks::Nobody).await;
    }
    let (sender, mut asks) = mpsc::channel(MAX_ASKS);
    let how = Asks::Result { asks: sender, given: Mutex::new(given) };
    let (shared_too, request, peer, line_too) = (Arc::clone(shared), request.clone(), peer.clone(), line.clone());
    let mut work = Box::pin(async move { perform(&shared_too, &request, &peer, &line_too, how).await });
    let first = tokio::select! {
        biased;
        outcome = &mut work => return outcome,
        Some(ask) = asks.recv() => ask,
    };
    let run = AbortOnDropHandle::new(tokio::spawn(work));
    let mut held = Held { id: Uuid::new_v4(), round: 0, run, asks, open: IndexMap::new(), line, until: Instant::now() };
    held.add(first);
    drive(shared, held, &subject).await
}

async fn perform(shared: &Arc<Shared>, request: &Request, peer: &Peer, line: &Line, asks: Asks) -> Outcome {
    let host = Arc::new(CallHost::new(peer.clone(), line.clone(), asks, Arc::clone(&shared.backend)));
    let outcome = match &*request.method {
        "tools/call" => return call::call(shared, request, peer, line, host).await,
        "prompts/get" => prompts::get(shared, request, peer, Arc::clone(&host)).await,
        _ => resources::read(shared, request, peer, Arc::clone(&host)).await,
    };
    match (outcome, host.missing()) {
        (Err(_), Some(missing)) if peer.is_modern() => Err(missing_capability(missing)),
        (outcome, _) => outcome,
    }
}

/// Goes on with a request until it is done or has to ask.
async fn drive(shared: &Arc<Shared>, mut held: Held, subject: &str) -> Outcome {
    loop {
        tokio::select! {
            biased;
            outcome = &mut held.run => {
                return outcome.unwrap_or_else(|_| Err(RpcError::new(RpcError::INTERNAL, "the request broke off")));
            }
            Some(ask) = held.asks.recv() => held.add(ask),
            () = tokio::time::sleep(GATHER), if !held.open.is_empty() => {
                held.open.retain(|_, ask| !ask.answer.is_closed());
                if !held.open.is_empty() {
                    let requests = held.requests();
                    let state = shared.held.keep(held, subject)?;
                    return Ok(input_required(requests, state));
                }
            }
        }
    }
}

fn input_required(requests: JsonText, state: JsonText) -> JsonText {
    JsonText::object([
        ("resultType", JsonText::string("input_required")),
        ("inputRequests", requests),
        ("requestState", state),
    ])
}

/// That a capability is needed which the client did not declare.
pub(super) fn missing_capability(name: &str) -> RpcError {
    let required = JsonText::object([(name, JsonText::object([]))]);
    RpcError::new(RpcError::MISSING_CAPABILITY, format!("the client has to declare the capability `{name}`"))
        .with_data(JsonText::object([("requiredCapabilities", required)]))
}

fn answers(raw: &RawValue) -> Result<HashMap<String, JsonText>, RpcError> {
    let wrong = || RpcError::invalid_params("`inputResponses` must be an object of objects");
    let answers: HashMap<String, JsonText> = serde_json::from_str(raw.get()).map_err(|_| wrong())?;
    if answers.values().all(|answer| answer.as_str().starts_with('{')) { Ok(answers) } else { Err(wrong()) }
}

// === impl Held ===

impl Held {
    fn add(&mut self, ask: Ask) {
        let taken = |key: &String| self.open.contains_key(key);
        let wanted = ask.key.clone().filter(|key| !taken(key));
        let numbered = (self.open.len() + 1..).map(|n| format!("input_{n}")).find(|key| !taken(key));
        let key = wanted.or(numbered).unwrap_or_default();
        self.open.insert(key, ask);
    }

    /// Hands the answers on. What was not asked for is left out.
    fn answer(&mut self, answers: HashMap<String, JsonText>) {
        for (key, answer) in answers {
            if let Some(ask) = self.open.shift_remove(&key) {
                drop(ask.answer.send(answer));
            }
        }
    }

    fn requests(&self) -> JsonText {
        let requests = self.open.iter().map(|(key, ask)| {
            let params = (ask.params.as_str() != "{}").then(|| ("params", ask.params.clone()));
            let members = std::iter::once(("method", JsonText::string(ask.method))).chain(params);
            (key.as_str(), JsonText::object(members))
        });
        JsonText::object(requests)
    }
}

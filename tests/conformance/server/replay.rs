//! Callers of revision 2026-07-28: what they are asked goes back to them with the result, and the request comes again
//! with the answers. It then runs from its beginning, which finds the answers of all rounds before.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use rmcp::model::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use toolyard_tests::conformance::{Caller, Said, Unanswered};

use super::session::Session;

/// Makes states that nobody else can make. A new one each time that the program starts.
#[derive(Default)]
pub(super) struct Seal(RandomState);

/// One round of a request.
pub(super) struct Replay<'a> {
    seal: &'a Seal,
    changes: &'a broadcast::Sender<Said>,
    /// What its client said that it can do.
    capabilities: Value,
    answers: Map<String, Value>,
    questions: Mutex<Map<String, Value>>,
    session: Session,
    wants_log: bool,
}

// === impl Seal ===

impl Seal {
    fn close(&self, answers: &Map<String, Value>) -> String {
        let text = Value::from(answers.clone()).to_string();
        format!("{:016x}.{text}", self.0.hash_one(&text))
    }

    fn open(&self, state: &str) -> Option<Map<String, Value>> {
        let (sum, text) = state.split_once('.')?;
        let is_ours = sum == format!("{:016x}", self.0.hash_one(text.to_owned()));
        if is_ours { serde_json::from_str(text).ok() } else { None }
    }
}

// === impl Replay ===

impl<'a> Replay<'a> {
    /// # Errors
    /// The state or the answers are not what they have to be.
    pub(super) fn new(
        seal: &'a Seal,
        changes: &'a broadcast::Sender<Said>,
        params: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let mut answers = match params["requestState"].as_str() {
            None => Map::new(),
            Some(state) => {
                let opened = seal.open(state);
                opened.ok_or_else(|| ErrorData::invalid_params("this requestState was changed on its way", None))?
            }
        };
        if let Some(given) = params.get("inputResponses") {
            let given = given.as_object().filter(|given| given.values().all(Value::is_object));
            let given = given.ok_or_else(|| ErrorData::invalid_params("inputResponses are no objects", None))?;
            answers.extend(given.clone());
        }
        let capabilities =
            context.client_capabilities().and_then(|capabilities| serde_json::to_value(capabilities).ok());
        Ok(Self {
            seal,
            changes,
            capabilities: capabilities.unwrap_or_default(),
            answers,
            questions: Mutex::default(),
            session: Session::new(context),
            wants_log: context.meta.log_level().is_some(),
        })
    }

    /// The result that asks for answers.
    pub(super) fn input_required(&self) -> Value {
        let questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = self.seal.close(&self.answers);
        json!({"resultType": "input_required", "inputRequests": questions, "requestState": state})
    }

    fn look_up(&self, key: &str, method: &str, params: Value) -> Result<Value, Unanswered> {
        if let Some(answer) = self.answers.get(key) {
            return Ok(answer.clone());
        }
        let capability = method.split('/').next().unwrap_or_default();
        if self.capabilities.get(capability).is_none_or(Value::is_null) {
            return Err(Unanswered::Refused(format!("the client does not offer {capability}")));
        }
        let question = json!({"method": method, "params": params});
        self.questions.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), question);
        Err(Unanswered::Later)
    }
}

impl Caller for Replay<'_> {
    fn ask<'a>(&'a self, key: &'a str, method: &'a str, params: Value) -> BoxFuture<'a, Result<Value, Unanswered>> {
        Box::pin(std::future::ready(self.look_up(key, method, params)))
    }

    fn tell(&self, said: Said) -> BoxFuture<'_, ()> {
        match said {
            Said::Progress(_) => return Box::pin(self.session.send(said)),
            Said::Log(_) if self.wants_log => return Box::pin(self.session.send(said)),
            Said::Log(_) => {}
            // Nobody listening is no fault.
            Said::ToolsChanged | Said::PromptsChanged => drop(self.changes.send(said)),
        }
        Box::pin(std::future::ready(()))
    }
}

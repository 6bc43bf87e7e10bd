//! Asker: whoever is behind a call or a request, asked through the engine.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolyard::{CallContext, HostCaller, HostRequest, JsonText, Progress, ToolInvocation};
use toolyard_providers::{McpEvent, McpEventKind, McpRequest};
use toolyard_tests::conformance::{Caller, Said, Unanswered};

use super::provider::{NAME, Native};

/// Where the endpoint looks for the name that a question is to have among the `inputRequests`.
const INPUT_KEY: &str = "toolyard/inputKey";

/// Whoever is asked.
pub(super) struct Asker<'a> {
    native: &'a Native,
    place: Place<'a>,
}

/// On whose behalf.
pub(super) enum Place<'a> {
    Call(&'a ToolInvocation, &'a CallContext),
    Request(&'a McpRequest),
}

// === impl Asker ===

impl<'a> Asker<'a> {
    pub(super) const fn new(native: &'a Native, place: Place<'a>) -> Self {
        Self { native, place }
    }

    async fn request(&self, capability: &str, payload: Value) -> Result<Value, Unanswered> {
        let (host, deadline) = match &self.place {
            Place::Call(_, context) => (Some(context.host()), context.deadline()),
            Place::Request(request) => (request.host.as_ref(), request.deadline),
        };
        let host = host.ok_or_else(|| Unanswered::Refused("nobody can be asked".to_owned()))?;
        let request = HostRequest {
            capability: capability.to_owned(),
            payload: JsonText::from(payload),
            provider: NAME.into(),
            caller: self.caller(),
            deadline,
        };
        let answer =
            host.request(request).await.map_err(|failure| Unanswered::Refused(failure.message.into_owned()))?;
        answer.to().map_err(|error| Unanswered::Refused(error.to_string()))
    }

    fn caller(&self) -> Option<HostCaller> {
        let Place::Call(invocation, context) = &self.place else { return None };
        Some(HostCaller {
            call_id: invocation.call_id().clone(),
            tool: invocation.tool_name().into(),
            context: Arc::clone(context.execution()),
        })
    }

    async fn say(&self, said: Said) {
        match said {
            Said::Progress(done) => {
                if let Place::Call(_, context) = &self.place {
                    context.progress(Progress { done: f64::from(done), total: Some(100.0), ..Progress::default() });
                }
            }
            Said::Log(line) => {
                let line = json!({"level": "info", "logger": "fixture", "data": line});
                // A log that nobody takes is no fault.
                self.request("log.message", line).await.ok();
            }
            Said::ToolsChanged => self.native.tools_changed.notify_one(),
            Said::PromptsChanged => {
                let kind = McpEventKind::PromptsChanged;
                self.native.hub.tell(McpEvent { provider: NAME.into(), tenant: None, kind });
            }
        }
    }
}

impl Caller for Asker<'_> {
    fn ask<'a>(&'a self, key: &'a str, method: &'a str, mut params: Value) -> BoxFuture<'a, Result<Value, Unanswered>> {
        params["_meta"] = json!({INPUT_KEY: key});
        let capability = match method {
            "sampling/createMessage" => "sampling.create",
            "elicitation/create" => "elicitation.create",
            _ => "roots.list",
        };
        Box::pin(self.request(capability, params))
    }

    fn tell(&self, said: Said) -> BoxFuture<'_, ()> {
        Box::pin(self.say(said))
    }
}

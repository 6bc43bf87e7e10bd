//! Callers of revisions up to 2025-11-25: what they are asked goes to them as a request.

use futures::future::BoxFuture;
use rmcp::model::{
    CustomRequest, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ServerRequest,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::Value;
use toolyard_tests::conformance::{Caller, Said, Unanswered};

/// One request of a session.
pub(super) struct Session {
    peer: Peer<RoleServer>,
    progress_token: Option<ProgressToken>,
}

// === impl Session ===

impl Session {
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        Self { peer: context.peer.clone(), progress_token: context.meta.get_progress_token() }
    }

    pub(super) async fn send(&self, said: Said) {
        // Whoever has gone need not be told.
        match said {
            Said::Progress(done) => {
                let Some(token) = self.progress_token.clone() else { return };
                let params = ProgressNotificationParam::new(token, f64::from(done)).with_total(100.0);
                self.peer.notify_progress(params).await.ok();
            }
            Said::Log(line) => {
                let params = LoggingMessageNotificationParam::new(LoggingLevel::Info, line.into());
                self.peer.notify_logging_message(params).await.ok();
            }
            Said::ToolsChanged => {
                self.peer.notify_tool_list_changed().await.ok();
            }
            Said::PromptsChanged => {
                self.peer.notify_prompt_list_changed().await.ok();
            }
        }
    }

    async fn request(&self, method: &str, params: Value) -> Result<Value, Unanswered> {
        let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        let answer = self.peer.send_request(request).await;
        let answer = answer.map_err(|error| Unanswered::Refused(error.to_string()))?;
        serde_json::to_value(answer).map_err(|error| Unanswered::Refused(error.to_string()))
    }
}

impl Caller for Session {
    fn ask<'a>(&'a self, _key: &'a str, method: &'a str, params: Value) -> BoxFuture<'a, Result<Value, Unanswered>> {
        Box::pin(self.request(method, params))
    }

    fn tell(&self, said: Said) -> BoxFuture<'_, ()> {
        Box::pin(self.send(said))
    }
}

//! HttpProvider: the tools of one document, as a provider.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{
    CallContext, ErrorCode, InvokeResult, ProviderKind, Remarks, ToolExecutionResult, ToolFailure, ToolInvocation,
    ToolProvider, ToolSpec,
};

use super::KIND;
use super::client::{Clients, SendError};
use super::document::HttpTool;
use super::redact::Redactor;
use super::secret::Secrets;

/// The tools of one document, with the secrets and the connections that they need.
#[derive(Debug)]
pub(super) struct HttpProvider {
    pub(super) name: String,
    /// In the order of the document.
    pub(super) specs: Vec<ToolSpec>,
    pub(super) tools: HashMap<Arc<str>, HttpTool>,
    pub(super) remarks: Remarks,
    /// The document's instructions.
    pub(super) guide: Option<String>,
    pub(super) secrets: Secrets,
    pub(super) redactor: Redactor,
    pub(super) clients: Clients,
    pub(super) max_response_bytes: usize,
}

// === impl HttpProvider ===

impl HttpProvider {
    async fn call(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> InvokeResult {
        let Some(tool) = self.tools.get(invocation.tool_name()) else {
            let message = format!("the document has no tool `{}`", invocation.tool_name());
            return Err(ToolFailure::not_sent(ErrorCode::ToolUnknown, message));
        };
        let outcome = self.run(tool, &invocation, &context).await;
        outcome.map(|result| self.redactor.result(result)).map_err(|failure| self.redactor.failure(failure))
    }

    async fn run(&self, tool: &HttpTool, invocation: &ToolInvocation, context: &CallContext) -> InvokeResult {
        let request = tool.request.prepare(invocation.arguments().text(), &self.secrets)?;
        let max_bytes = tool.response.max_bytes.unwrap_or(self.max_response_bytes).min(self.max_response_bytes);
        match self.clients.send(request, &tool.response, max_bytes).await {
            Ok(answer) => Ok(tool.response.result(answer, context.execution().locale)),
            Err(SendError::Tool(message)) => Ok(ToolExecutionResult::failure(message)),
            Err(SendError::Provider(failure)) => Err(failure),
        }
    }
}

impl ToolProvider for HttpProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        Box::pin(std::future::ready(Ok(self.specs.clone())))
    }

    /// Dropping the future aborts the request and closes its connection.
    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Box::pin(self.call(invocation, context))
    }

    fn remarks(&self) -> Remarks {
        self.remarks.clone()
    }

    fn guide(&self) -> Option<String> {
        self.guide.clone()
    }
}

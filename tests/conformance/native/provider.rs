//! Native: the fixture as a provider of tools, and of what MCP has beside tools.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolyard::{
    CallContext, InvokeResult, JsonText, ProviderEvent, ProviderKind, ToolExecutionResult, ToolFailure, ToolInvocation,
    ToolProvider, ToolSpec, result_from_mcp,
};
use toolyard_providers::{McpFeatures, McpHub, McpRefusal, McpRequest};
use toolyard_tests::conformance::{Fault, answer, listed};

use super::asker::{Asker, Place};

/// Name of the provider.
pub(super) const NAME: &str = "fixture";

/// The fixture.
pub(super) struct Native {
    pub(super) hub: McpHub,
    pub(super) tools_changed: Arc<Notify>,
}

// === impl Native ===

impl Native {
    pub(super) fn new(hub: McpHub) -> Self {
        Self { hub, tools_changed: Arc::default() }
    }

    async fn run(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> InvokeResult {
        let params = json!({"name": invocation.tool_name(), "arguments": invocation.arguments().value()});
        let wants_native = context.wants_native_result();
        let asker = Asker::new(&self, Place::Call(&invocation, &context));
        match answer("tools/call", &params, &asker).await {
            Ok(result) => Ok(result_from_mcp(&JsonText::from(result))),
            Err(fault) => {
                let error = error_of(fault);
                let mut failed = ToolExecutionResult::failure(error["message"].as_str().unwrap_or_default());
                failed.metadata.insert("jsonrpc_code".to_owned(), error["code"].clone());
                failed.native = wants_native.then(|| JsonText::from(error));
                Ok(failed)
            }
        }
    }
}

impl ToolProvider for Native {
    fn name(&self) -> &str {
        NAME
    }

    fn kind(&self) -> ProviderKind {
        ProviderKind::new("conformance")
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        let text = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_owned();
        let spec = |tool: &Value| {
            ToolSpec::new(text(tool, "name"), text(tool, "description")).with_parameters(tool["inputSchema"].clone())
        };
        let specs = listed("tools").iter().map(spec).collect();
        Box::pin(std::future::ready(Ok(specs)))
    }

    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Box::pin(self.run(invocation, context))
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(async {
            self.tools_changed.notified().await;
            ProviderEvent::ToolsChanged
        })
    }
}

impl McpFeatures for Native {
    fn capabilities(&self) -> JsonText {
        JsonText::from(json!({
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true}
        }))
    }

    fn instructions(&self) -> Option<String> {
        None
    }

    fn request(&self, request: McpRequest) -> BoxFuture<'_, Result<JsonText, McpRefusal>> {
        Box::pin(async move {
            let params: Value = request.params.to().unwrap_or_default();
            let asker = Asker::new(self, Place::Request(&request));
            answer(&request.method, &params, &asker).await.map(JsonText::from).map_err(|fault| {
                let error = error_of(fault);
                McpRefusal::Error {
                    code: error["code"].as_i64().unwrap_or_default(),
                    message: error["message"].as_str().unwrap_or_default().to_owned(),
                    data: error.get("data").cloned().map(JsonText::from),
                }
            })
        })
    }
}

/// The JSON-RPC error of a fault.
fn error_of(fault: Fault) -> Value {
    match fault {
        Fault::Later => json!({"code": -32603, "message": "nobody answered"}),
        Fault::Error { code, message, data: None } => json!({"code": code, "message": message}),
        Fault::Error { code, message, data: Some(data) } => json!({"code": code, "message": message, "data": data}),
    }
}

//! Echo: a server with a tool that gives its text back, and one that takes its time.

use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

/// The server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo;

// === impl Echo ===

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let echo = schema(json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}));
        let sleep = schema(json!({"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]}));
        let tools = vec![Tool::new("echo", "Gives the text back.", echo), Tool::new("sleep", "Takes its time.", sleep)];
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = match &*request.name {
            "echo" => arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
            _ => {
                let time = arguments.get("ms").and_then(Value::as_u64).unwrap_or_default();
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(time)) => "slept".to_owned(),
                    () = context.ct.cancelled() => "was woken".to_owned(),
                }
            }
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

fn schema(schema: Value) -> Map<String, Value> {
    schema.as_object().cloned().unwrap_or_default()
}

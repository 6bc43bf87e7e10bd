//! Gateway: the least that passes tools on from a child process. It checks nothing, counts nothing and heals nothing.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientConfig, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleClient, RoleServer, RunningService, ServiceError, ServiceExt as _};
use rmcp::transport::TokioChildProcess;

/// The gateway.
#[derive(Clone, Debug)]
pub(crate) struct Gateway(Arc<RunningService<RoleClient, ClientConfig>>);

// === impl Gateway ===

impl Gateway {
    pub(crate) async fn start(program: &str, arguments: &[&str]) -> Result<Self, Box<dyn std::error::Error>> {
        let mut command = tokio::process::Command::new(program);
        command.args(arguments);
        let mut client = ClientConfig::new(Default::default(), Implementation::new("gateway", "1"));
        client.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        Ok(Self(Arc::new(client.serve(TokioChildProcess::new(command)?).await?)))
    }
}

impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(request).await.map_err(refused)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Its own number of a request for progress would mean nothing to the server.
        let params = CallToolRequestParams { meta: None, ..request };
        self.0.call_tool_once(params).await.map_err(refused)
    }
}

fn refused(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

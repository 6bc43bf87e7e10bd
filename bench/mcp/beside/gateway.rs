//! Gateway: the least that passes tools on from a child process. It checks nothing, counts nothing and heals nothing.

use std::process::Stdio;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientConfig, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleClient, RoleServer, RunningService, ServiceError, ServiceExt as _};
use tokio::process::{Child, Command};

/// The gateway.
#[derive(Clone, Debug)]
pub(crate) struct Gateway {
    upstream: Arc<RunningService<RoleClient, ClientConfig>>,
    _child: Arc<Child>,
}

// === impl Gateway ===

impl Gateway {
    pub(crate) async fn start(program: &str, arguments: &[&str]) -> Result<Self, Box<dyn std::error::Error>> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let pipes = child.stdout.take().zip(child.stdin.take()).ok_or("no pipes")?;
        let mut client = ClientConfig::new(Default::default(), Implementation::new("gateway", "1"));
        client.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        Ok(Self { upstream: Arc::new(client.serve(pipes).await?), _child: Arc::new(child) })
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
        self.upstream.list_tools(request).await.map_err(refused)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Its own number of a request for progress would mean nothing to the server.
        request.meta = None;
        self.upstream.call_tool_once(request).await.map_err(refused)
    }
}

fn refused(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

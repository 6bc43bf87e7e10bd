//! The conformance fixture as an MCP server of its own, over stdio or HTTP, in both eras.
//!
//! ```text
//! conformance-server stdio
//! conformance-server http
//! ```

mod replay;
mod session;

use std::process::ExitCode;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use replay::{Replay, Seal};
use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, Implementation,
    InitializeResult, ProtocolVersion, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service, ServiceExt as _};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use session::Session;
use tokio::net::TcpListener;
use toolyard_tests::conformance::{Fault, LISTENS_ON, answer};

/// The fixture, spoken to in MCP.
#[derive(Clone)]
struct Fixture {
    seal: Arc<Seal>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let fixture = Fixture { seal: Arc::default() };
    let ended = match std::env::args().nth(1).as_deref() {
        Some("stdio") => stdio(fixture).await,
        Some("http") => http(fixture).await,
        _ => Err("usage: conformance-server stdio|http".to_owned()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

async fn stdio(fixture: Fixture) -> Result<(), String> {
    let running = fixture.serve(rmcp::transport::stdio()).await.map_err(|error| error.to_string())?;
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}

async fn http(fixture: Fixture) -> Result<(), String> {
    let sessions = Arc::<LocalSessionManager>::default();
    let service =
        StreamableHttpService::new(move || Ok(fixture.clone()), sessions, StreamableHttpServerConfig::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    eprintln!("{LISTENS_ON}http://{address}/mcp");
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).await.map_err(|error| error.to_string())
}

// === impl Fixture ===

impl Fixture {
    fn about(version: ProtocolVersion) -> InitializeResult {
        let capabilities = json!({
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true},
            "tools": {"listChanged": true}
        });
        let mut about = InitializeResult::new(serde_json::from_value(capabilities).unwrap_or_default());
        about.server_info = Implementation::new("conformance-fixture", env!("CARGO_PKG_VERSION"));
        about.protocol_version = version;
        about
    }

    async fn legacy(&self, method: &str, params: &Value, context: RequestContext<RoleServer>) -> Answered {
        let caller = Session::new(&context);
        let answered = answer(method, params, &caller).await;
        answered.map_err(|fault| match fault {
            Fault::Later => ErrorData::internal_error("nobody answered", None),
            Fault::Error { code, message, data } => error(code, message, data),
        })
    }

    async fn modern(&self, method: &str, params: &Value, context: RequestContext<RoleServer>) -> Answered {
        if matches!(method, "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe") {
            return Err(error(-32601, format!("no method {method}"), None));
        }
        let caller = Replay::new(&self.seal, params, &context)?;
        match answer(method, params, &caller).await {
            Ok(mut result) => {
                result["resultType"] = "complete".into();
                if !matches!(method, "tools/call" | "prompts/get" | "completion/complete") {
                    result["ttlMs"] = 0.into();
                    result["cacheScope"] = "public".into();
                }
                Ok(result)
            }
            Err(Fault::Later) => Ok(caller.input_required()),
            Err(Fault::Error { code, message, data }) => Err(error(code, message, data)),
        }
    }
}

type Answered = Result<Value, ErrorData>;

impl Service<RoleServer> for Fixture {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        match &request {
            ClientRequest::InitializeRequest(request) => {
                let asked = request.params.protocol_version.clone();
                let is_legacy = asked.as_str() <= ProtocolVersion::LATEST_WITH_INITIALIZE.as_str();
                let version = if is_legacy { asked } else { ProtocolVersion::LATEST_WITH_INITIALIZE };
                return Ok(ServerResult::InitializeResult(Self::about(version)));
            }
            ClientRequest::DiscoverRequest(_) => {
                let versions = vec![ProtocolVersion::V_2026_07_28];
                let about = Self::about(ProtocolVersion::V_2026_07_28);
                return Ok(ServerResult::DiscoverResult(DiscoverResult::from_server_info(versions, about)));
            }
            ClientRequest::PingRequest(_) => return Ok(ServerResult::empty(())),
            _ => {}
        }
        let sent =
            serde_json::to_value(&request).map_err(|fault| ErrorData::internal_error(fault.to_string(), None))?;
        let method = sent["method"].as_str().unwrap_or_default();
        let params = &sent["params"];
        let is_modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let cancelled = context.ct.clone();
        let answered = async {
            if is_modern {
                self.modern(method, params, context).await
            } else {
                self.legacy(method, params, context).await
            }
        };
        tokio::select! {
            answered = answered => answered.map(|result| ServerResult::CustomResult(CustomResult::new(result))),
            () = cancelled.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    async fn handle_notification(
        &self,
        _notification: ClientNotification,
        _context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> InitializeResult {
        Self::about(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

fn error(code: i64, message: String, data: Option<Value>) -> ErrorData {
    ErrorData::new(ErrorCode(i32::try_from(code).unwrap_or_default()), message, data)
}

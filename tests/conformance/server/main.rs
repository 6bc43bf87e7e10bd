//! The conformance fixture as an MCP server of its own, over stdio or HTTP, in both eras.
//!
//! ```text
//! conformance-server stdio
//! conformance-server http
//! ```
#![expect(deprecated, reason = "the older revisions are what much of this is for")]

mod replay;
mod session;

use std::process::ExitCode;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use replay::{Replay, Seal};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InitializeResult,
    InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use session::Session;
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use toolyard_tests::conformance::{Fault, LISTENS_ON, Said, answer};

/// The fixture, spoken to in MCP.
#[derive(Clone)]
struct Fixture {
    seal: Arc<Seal>,
    /// Changes of the lists, for whoever listens.
    changes: broadcast::Sender<Said>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let fixture = Fixture { seal: Arc::default(), changes: broadcast::Sender::new(16) };
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
    /// Answers a request whose result is one of these two: what was asked for, or what has to be answered before.
    async fn answer<R, L>(
        &self,
        method: &str,
        params: impl Serialize,
        context: RequestContext<RoleServer>,
    ) -> Answered<R>
    where
        R: From<L> + From<InputRequiredResult>,
        L: DeserializeOwned,
    {
        let params =
            serde_json::to_value(params).map_err(|fault| ErrorData::internal_error(fault.to_string(), None))?;
        let is_modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let cancelled = context.ct.clone();
        let answered = async {
            if !is_modern {
                return answer(method, &params, &Session::new(&context))
                    .await
                    .map_err(refused)
                    .and_then(read::<L>)
                    .map(R::from);
            }
            let caller = Replay::new(&self.seal, &self.changes, &params, &context)?;
            match answer(method, &params, &caller).await {
                Err(Fault::Later) => read::<InputRequiredResult>(caller.input_required()).map(R::from),
                answered => answered.map_err(refused).and_then(read::<L>).map(R::from),
            }
        };
        tokio::select! {
            answered = answered => answered,
            () = cancelled.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    /// Answers a request that asks nothing back.
    async fn plain<R: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        context: &RequestContext<RoleServer>,
    ) -> Answered<R> {
        answer(method, &params, &Session::new(context)).await.map_err(refused).and_then(read)
    }
}

type Answered<R> = Result<R, ErrorData>;
type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

impl ServerHandler for Fixture {
    fn get_info(&self) -> InitializeResult {
        let capabilities = json!({
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true},
            "tools": {"listChanged": true}
        });
        let mut about = InitializeResult::new(serde_json::from_value(capabilities).unwrap_or_default());
        about.server_info = Implementation::new("conformance-fixture", env!("CARGO_PKG_VERSION"));
        about
    }

    async fn list_tools(&self, _page: Page, context: Context) -> Answered<ListToolsResult> {
        self.plain("tools/list", json!({}), &context).await
    }

    async fn list_prompts(&self, _page: Page, context: Context) -> Answered<ListPromptsResult> {
        self.plain("prompts/list", json!({}), &context).await
    }

    async fn list_resources(&self, _page: Page, context: Context) -> Answered<ListResourcesResult> {
        self.plain("resources/list", json!({}), &context).await
    }

    async fn list_resource_templates(&self, _page: Page, context: Context) -> Answered<ListResourceTemplatesResult> {
        self.plain("resources/templates/list", json!({}), &context).await
    }

    async fn complete(&self, _params: CompleteRequestParams, context: Context) -> Answered<CompleteResult> {
        self.plain("completion/complete", json!({}), &context).await
    }

    async fn call_tool(&self, params: CallToolRequestParams, context: Context) -> Answered<CallToolResponse> {
        self.answer::<_, CallToolResult>("tools/call", params, context).await
    }

    async fn get_prompt(&self, params: GetPromptRequestParams, context: Context) -> Answered<GetPromptResponse> {
        self.answer::<_, GetPromptResult>("prompts/get", params, context).await
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: Context,
    ) -> Answered<ReadResourceResponse> {
        self.answer::<_, ReadResourceResult>("resources/read", params, context).await
    }

    async fn set_level(&self, _params: SetLevelRequestParams, _context: Context) -> Answered<()> {
        Ok(())
    }

    async fn subscribe(&self, _params: SubscribeRequestParams, _context: Context) -> Answered<()> {
        Ok(())
    }

    async fn unsubscribe(&self, _params: UnsubscribeRequestParams, _context: Context) -> Answered<()> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Answered<()> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // Whoever asked for other changes is not told of this one.
            match change {
                Ok(Said::ToolsChanged) => drop(subscription.sink().notify_tool_list_changed().await),
                Ok(Said::PromptsChanged) => drop(subscription.sink().notify_prompt_list_changed().await),
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }
}

/// The result as rmcp has it.
fn read<R: DeserializeOwned>(result: Value) -> Answered<R> {
    serde_json::from_value(result).map_err(|fault| ErrorData::internal_error(fault.to_string(), None))
}

fn refused(fault: Fault) -> ErrorData {
    match fault {
        Fault::Later => ErrorData::internal_error("nobody answered", None),
        Fault::Error { code, message, data } => error(code, message, data),
    }
}

fn error(code: i64, message: String, data: Option<Value>) -> ErrorData {
    ErrorData::new(ErrorCode(i32::try_from(code).unwrap_or_default()), message, data)
}

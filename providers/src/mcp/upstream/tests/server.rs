//! FakeServer: the other end of a transport, in the hands of a test.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolyard::{
    BatchHandle, Breaker, HostPort, JsonText, Limits, NoHost, ProviderSettings, RawArguments, ToolBatch, ToolCall,
    ToolFailure, ToolRegistry,
};

use crate::mcp::era::EraMemory;
use crate::mcp::hub::McpHub;
use crate::mcp::upstream::client::McpClient;
use crate::mcp::upstream::config::McpOptions;
use crate::mcp::upstream::pins::McpPins;
use crate::mcp::upstream::secrets::Secrets;
use crate::mcp::upstream::session::{Opening, Session};
use crate::mcp::upstream::transport::{Failed, Inbox, Opened, Outgoing, SendFailure, Transport};

/// The server's end.
pub(super) struct FakeServer {
    pub(super) inbox: Arc<dyn Inbox>,
    said: mpsc::UnboundedReceiver<Said>,
    gone: CancellationToken,
}

/// What the client did.
#[derive(Debug)]
pub(super) enum Said {
    Message(JsonText),
    Cancelled(u64),
    Opened(String),
}

#[derive(Debug)]
struct FakeTransport {
    said: mpsc::UnboundedSender<Said>,
    gone: CancellationToken,
}

/// Everything that a session is opened with.
pub(super) struct Bench {
    pub(super) options: McpOptions,
    pub(super) memory: Arc<EraMemory>,
    pub(super) hub: McpHub,
    pub(super) host: Arc<dyn HostPort>,
    pub(super) secrets: Secrets,
}

/// A session that is being opened.
pub(super) type Opens = tokio::task::JoinHandle<Result<Arc<Session>, ToolFailure>>;

// === impl Bench ===

impl Bench {
    pub(super) fn new(options: Value) -> Self {
        let options: McpOptions = serde_json::from_value(options).unwrap();
        let memory = Arc::new(EraMemory::new(options.era));
        Self { options, memory, hub: McpHub::new(), host: Arc::new(NoHost), secrets: Secrets::default() }
    }

    /// Begins to open a session.
    pub(super) async fn begin(&self) -> (FakeServer, Opens) {
        let opening = Opening {
            provider: "p".into(),
            options: self.options.clone(),
            memory: Arc::clone(&self.memory),
            hub: self.hub.clone(),
            tenant: None,
            host: Arc::clone(&self.host),
            secrets: self.secrets.clone(),
        };
        let (hand_over, server) = tokio::sync::oneshot::channel();
        let opens = tokio::spawn(Session::open(opening, |inbox| async {
            let (sender, said) = mpsc::unbounded_channel();
            let gone = CancellationToken::new();
            let transport = FakeTransport { said: sender, gone: gone.clone() };
            drop(hand_over.send(FakeServer { inbox, said, gone }));
            Ok(Arc::new(transport) as Arc<dyn Transport>)
        }));
        (server.await.unwrap(), opens)
    }

    /// A legacy session with these capabilities.
    pub(super) async fn legacy(&self, capabilities: Value) -> (FakeServer, Arc<Session>) {
        let (mut server, opens) = self.begin().await;
        server.accept(&capabilities).await;
        (server, opens.await.unwrap().unwrap())
    }

    /// A session of 2026-07-28 with these capabilities.
    pub(super) async fn modern(&self, capabilities: Value) -> (FakeServer, Arc<Session>) {
        let (mut server, opens) = self.begin().await;
        let probe = server.request("server/discover").await;
        server.answer(&probe, &discovered(&capabilities));
        let session = opens.await.unwrap().unwrap();
        assert_eq!(server.opened().await, "2026-07-28");
        (server, session)
    }

    /// The session as a provider with one tool `t`, ready for calls.
    pub(super) async fn serve(&self, server: &mut FakeServer, session: Arc<Session>) -> ToolRegistry {
        let registry = ToolRegistry::new(Limits::default());
        let client = Arc::new(McpClient::new(session, &self.hub, None, McpPins::in_memory()));
        let (made, list) = (registry.clone(), json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}));
        let mut settings = ProviderSettings::default();
        settings.breaker = Some(Breaker::default());
        let registering = tokio::spawn(async move { made.register(client, settings).await.unwrap() });
        loop {
            let request = server.message().await;
            match request["method"].as_str() {
                Some("tools/list") => {
                    server.answer(&request, &list);
                    break;
                }
                Some("subscriptions/listen") => {}
                _ => panic!("{request}"),
            }
        }
        registering.await.unwrap();
        registry
    }

    /// A legacy session, served.
    pub(super) async fn ready(options: Value) -> (FakeServer, ToolRegistry) {
        let bench = Self::new(options);
        let (mut server, session) = bench.legacy(json!({"tools": {"listChanged": true}})).await;
        let registry = bench.serve(&mut server, session).await;
        (server, registry)
    }
}

/// One call of `t`.
pub(super) fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, "t", RawArguments::text(arguments))
}

/// Starts one call of `t`.
pub(super) async fn start(registry: &ToolRegistry) -> BatchHandle {
    registry.start(ToolBatch::new(vec![call("c", "{}")])).await.unwrap()
}

pub(super) fn discovered(capabilities: &Value) -> Value {
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
        "ttlMs": 0, "cacheScope": "private"})
}

pub(super) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

// === impl FakeServer ===

impl FakeServer {
    /// What the client does next.
    pub(super) async fn next(&mut self) -> Said {
        self.said.recv().await.unwrap()
    }

    /// The next message.
    pub(super) async fn message(&mut self) -> Value {
        self.text().await.to().unwrap()
    }

    /// The next message as it was sent.
    pub(super) async fn text(&mut self) -> JsonText {
        match self.next().await {
            Said::Message(text) => text,
            other => panic!("{other:?}"),
        }
    }

    /// The next message, which is a request of this method.
    pub(super) async fn request(&mut self, method: &str) -> Value {
        let message = self.message().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub(super) async fn cancelled(&mut self) -> u64 {
        match self.next().await {
            Said::Cancelled(id) => id,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn opened(&mut self) -> String {
        match self.next().await {
            Said::Opened(revision) => revision,
            other => panic!("{other:?}"),
        }
    }

    /// Nothing was done.
    pub(super) async fn silence(&mut self) {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        if let Ok(said) = self.said.try_recv() {
            panic!("{said:?}");
        }
    }

    /// Refuses the newer era and accepts the older.
    pub(super) async fn accept(&mut self, capabilities: &Value) {
        let probe = self.request("server/discover").await;
        self.refuse(&probe, -32601);
        self.initialize(capabilities).await;
    }

    pub(super) async fn initialize(&mut self, capabilities: &Value) {
        let request = self.request("initialize").await;
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "serverInfo": {"name": "fake", "version": "1"}});
        self.answer(&request, &result);
        assert_eq!(self.opened().await, "2025-11-25");
        self.request("notifications/initialized").await;
    }

    pub(super) fn say(&self, message: &str) {
        self.inbox.receive(message.as_bytes(), None);
    }

    pub(super) fn answer(&self, request: &Value, result: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string());
    }

    pub(super) fn refuse(&self, request: &Value, code: i64) {
        let error = json!({"code": code, "message": "no"});
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string());
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    pub(super) fn fail(&self, request: &Value, failure: Failed) {
        self.inbox.fail(request["id"].as_u64().unwrap(), failure);
    }

    /// The connection breaks.
    pub(super) fn end(&self) {
        self.gone.cancel();
    }
}

impl Transport for FakeTransport {
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), SendFailure>> {
        assert!(!message.text.as_str().contains('\n'), "{}", message.text);
        drop(self.said.send(Said::Message(message.text)));
        Box::pin(std::future::ready(Ok(())))
    }

    fn cancel(&self, id: u64, _reason: &str) {
        drop(self.said.send(Said::Cancelled(id)));
    }

    fn opened(&self, opened: &Opened) {
        drop(self.said.send(Said::Opened(opened.revision.to_string())));
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        Box::pin(async {
            self.gone.cancelled().await;
            "it broke".to_owned()
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.gone.cancel();
        Box::pin(std::future::ready(()))
    }
}

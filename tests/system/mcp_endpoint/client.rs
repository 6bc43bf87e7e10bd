//! A client that sends what it is told and looks at every byte that comes back.

use serde_json::{Value, json};
use toolyard_tests::Daemon;

/// A client of the older revisions with its session, or one of 2026-07-28.
pub(super) struct Client<'d> {
    daemon: &'d Daemon,
    session: Option<String>,
    /// What it declares of itself, where each request says so.
    pub(super) capabilities: Value,
}

/// An answer: its status, its type, and every message in it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) messages: Vec<Value>,
    pub(super) text: String,
}

/// An answer that is still coming.
pub(super) struct Stream {
    response: reqwest::Response,
    read: String,
}

impl<'d> Client<'d> {
    /// Opens a session.
    pub(super) async fn open(daemon: &'d Daemon, capabilities: Value) -> Self {
        let mut client = Self { daemon, session: None, capabilities };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": client.capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let response = client.post(&message.to_string(), &[]).await;
        assert_eq!(response.status(), 200);
        client.session = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    /// One of 2026-07-28.
    pub(super) fn modern(daemon: &'d Daemon, capabilities: Value) -> Self {
        Self { daemon, session: None, capabilities }
    }

    pub(super) async fn ask(&self, method: &str, params: Value) -> Answer {
        Answer::read(self.send(method, params, &[]).await).await
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.ask("tools/call", json!({"name": format!("asking__{tool}"), "arguments": arguments})).await
    }

    /// Begins a request whose answer comes bit by bit.
    pub(super) async fn begin(&self, method: &str, params: Value) -> Stream {
        Stream { response: self.send(method, params, &[]).await, read: String::new() }
    }

    /// Sends a request, with further headers in place of the usual ones.
    pub(super) async fn send(&self, method: &str, mut params: Value, headers: &[(&str, &str)]) -> reqwest::Response {
        if self.session.is_none() {
            let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities});
            let own = params["_meta"].as_object().cloned().unwrap_or_default();
            params["_meta"] = meta;
            params["_meta"].as_object_mut().unwrap().extend(own);
        }
        let named = params.get("name").or(params.get("uri")).and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let mut all = vec![("mcp-method", method), ("mcp-name", &*named)];
        if named.is_empty() || self.session.is_some() {
            all.truncate(if self.session.is_some() { 0 } else { 1 });
        }
        all.retain(|(name, _)| headers.iter().all(|(given, _)| given != name));
        all.extend(headers);
        self.post(&message, &all).await
    }

    pub(super) async fn notify(&self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        assert_eq!(self.post(&message, &[]).await.status(), 202);
    }

    /// Answers a request of the server's.
    pub(super) async fn respond(&self, id: &Value, result: Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        assert_eq!(self.post(&message, &[]).await.status(), 202);
    }

    /// Sends these very bytes.
    pub(super) async fn post(&self, body: &str, headers: &[(&str, &str)]) -> reqwest::Response {
        let request = self.daemon.client.post(format!("{}/mcp", self.daemon.address));
        let mut request = request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body.to_owned());
        let version = if self.session.is_some() { "2025-11-25" } else { "2026-07-28" };
        let is_opening = body.contains("\"clientInfo\"");
        if !is_opening && headers.iter().all(|(name, _)| *name != "mcp-protocol-version") {
            request = request.header("mcp-protocol-version", version);
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap()
    }

    /// Listens to what belongs to no request.
    pub(super) async fn listen(&self) -> Stream {
        let request = self.daemon.client.get(format!("{}/mcp", self.daemon.address));
        let request = request.header("accept", "text/event-stream").header("mcp-protocol-version", "2025-11-25");
        let response = request.header("mcp-session-id", self.session.as_ref().unwrap()).send().await.unwrap();
        assert_eq!(response.status(), 200);
        Stream { response, read: String::new() }
    }

    /// Ends the session.
    pub(super) async fn leave(&self) -> u16 {
        let request = self.daemon.client.delete(format!("{}/mcp", self.daemon.address));
        let request = request.header("mcp-session-id", self.session.as_ref().unwrap());
        request.send().await.unwrap().status().as_u16()
    }
}

impl Answer {
    pub(super) async fn read(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let kind = kind.unwrap_or_default();
        let text = response.text().await.unwrap();
        let messages = match &*kind {
            "application/json" => vec![serde_json::from_str(&text).unwrap()],
            "text/event-stream" => {
                let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
                data.map(|data| serde_json::from_str(data).unwrap()).collect()
            }
            _ => Vec::new(),
        };
        Self { status, kind, messages, text }
    }

    pub(super) fn result(&self) -> &Value {
        self.messages.last().and_then(|last| last.get("result")).unwrap_or_else(|| panic!("no result: {self:?}"))
    }

    pub(super) fn error(&self) -> &Value {
        self.messages.last().and_then(|last| last.get("error")).unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    /// The first text of a call's result.
    pub(super) fn words(&self) -> &str {
        self.result()["content"][0]["text"].as_str().unwrap()
    }

    pub(super) fn methods(&self) -> Vec<&str> {
        self.messages.iter().filter_map(|message| message["method"].as_str()).collect()
    }
}

impl Stream {
    /// The next message, or nothing at the end.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                self.read = rest.to_owned();
                match data {
                    Some(data) => return Some(serde_json::from_str(&data).unwrap()),
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(super::PATIENCE, self.response.chunk()).await.expect("nothing was said");
            self.read.push_str(std::str::from_utf8(&chunk.unwrap()?).unwrap());
        }
    }
}

//! An MCP server over streamable HTTP that does whatever a test wants of it, and tells what it was asked.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

/// The server.
pub(super) struct Service {
    pub(super) address: SocketAddr,
    state: Arc<Mutex<State>>,
    _task: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct State {
    tools: Vec<Value>,
    sessions: HashSet<String>,
    opened: usize,
    /// It forgets every session as soon as it is opened.
    is_forgetful: bool,
    seen: Vec<Seen>,
}

/// One request as it came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) verb: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

/// What to answer.
enum Answer {
    Whole {
        status: &'static str,
        headers: String,
        body: Vec<u8>,
    },
    /// A stream, which ends behind these events.
    Events(String),
    /// The first part of a body, and then nothing.
    Cut,
    /// Nothing at all.
    Silence,
    /// Events without end.
    Flood,
}

// === impl Service ===

impl Service {
    pub(super) async fn start(tools: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tools = tools.iter().map(|name| tool(name, name)).collect();
        let state = Arc::new(Mutex::new(State { tools, ..State::default() }));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state, _task: AbortOnDropHandle::new(task) }
    }

    /// A configuration of it under this name.
    pub(super) fn config(&self, name: &str, more: &str) -> String {
        let address = self.address;
        format!(
            "[[providers]]\nname = \"{name}\"\nkind = \"mcp\"\nurl = \"http://{address}/mcp\"\nallow_private = true\n{more}\n"
        )
    }

    pub(super) fn set_tools(&self, tools: Vec<Value>) {
        self.state.lock().unwrap().tools = tools;
    }

    pub(super) fn forget(&self, always: bool) {
        let mut state = self.state.lock().unwrap();
        state.sessions.clear();
        state.is_forgetful = always;
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.state.lock().unwrap().seen.clone()
    }

    /// How often this was asked.
    pub(super) fn count(&self, method: &str, tool: Option<&str>) -> usize {
        let is_one =
            |seen: &&Seen| seen.body["method"] == method && tool.is_none_or(|tool| seen.body["params"]["name"] == tool);
        self.seen().iter().filter(is_one).count()
    }
}

/// A tool of this name and description.
pub(super) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object", "properties": {}}})
}

// === impl Seen ===

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    async fn read(stream: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let verb = lines.first()?.split(' ').next()?.to_owned();
        let headers: Vec<(String, String)> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut seen = Self { verb, headers, body: Value::Null };
        let mut body = vec![0; seen.header("content-length").map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.ok()?;
        seen.body = serde_json::from_slice(&body).unwrap_or_default();
        Some(seen)
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut stream = BufReader::new(stream);
    while let Some(seen) = Seen::read(&mut stream).await {
        let answer = state.lock().unwrap().answer(seen);
        let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let bytes = match answer {
            Answer::Whole { status, headers, body } => {
                let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
                if stream.write_all(&[head.as_bytes(), &body].concat()).await.is_err() {
                    return;
                }
                continue;
            }
            Answer::Events(said) => format!("{events}{said}"),
            Answer::Cut => {
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{".to_owned()
            }
            Answer::Silence => {
                drop(stream.read(&mut [0; 16]).await);
                return;
            }
            Answer::Flood => {
                let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n\n".repeat(100);
                let mut part = format!("{events}{event}");
                while stream.write_all(part.as_bytes()).await.is_ok() {
                    part.clone_from(&event);
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                }
                return;
            }
        };
        stream.write_all(bytes.as_bytes()).await.ok();
        stream.shutdown().await.ok();
        return;
    }
}

// === impl State ===

impl State {
    fn answer(&mut self, seen: Seen) -> Answer {
        self.seen.push(seen.clone());
        let session = seen.header("mcp-session-id").unwrap_or_default().to_owned();
        match (seen.verb.as_str(), seen.body["method"].as_str()) {
            ("DELETE", _) => {
                self.sessions.remove(&session);
                whole("200 OK", "", "")
            }
            ("POST", Some("server/discover")) => {
                let error = json!({"code": -32601, "message": "there is no such method"});
                json_body(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error}))
            }
            ("POST", Some("initialize")) => {
                self.opened += 1;
                let id = format!("s{}", self.opened);
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "x", "version": "1"}});
                let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}).to_string();
                let headers = format!("content-type: application/json\r\nmcp-session-id: {id}\r\n");
                self.sessions.insert(id);
                whole("200 OK", &headers, body)
            }
            ("POST", Some("notifications/initialized")) => whole("202 Accepted", "", ""),
            ("POST", _) if self.is_forgetful || !self.sessions.contains(&session) => {
                whole("404 Not Found", "", "no session")
            }
            ("POST", Some("tools/list")) => self.result(&seen, &json!({"tools": self.tools})),
            ("POST", Some("tools/call")) => self.call(&seen, &session),
            ("POST", _) => whole("202 Accepted", "", ""),
            _ => whole("405 Method Not Allowed", "", ""),
        }
    }

    fn call(&self, seen: &Seen, session: &str) -> Answer {
        let id = &seen.body["id"];
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        match seen.body["params"]["name"].as_str().unwrap_or_default() {
            "nan" => whole(
                "200 OK",
                JSON,
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"x\":NaN}}}}"),
            ),
            "utf8" => whole("200 OK", JSON, b"{\"jsonrpc\":\"2.0\",\"result\":\"\xff\xfe\"}".to_vec()),
            "huge" => self.result(seen, &text(&"x".repeat(1 << 20))),
            "huge_event" => {
                let result = json!({"jsonrpc": "2.0", "id": id, "result": text(&"x".repeat(1 << 20))});
                Answer::Events(format!("data: {result}\n\n"))
            }
            "cut" => Answer::Cut,
            "cut_events" => {
                Answer::Events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n\n".to_owned())
            }
            "never" => Answer::Silence,
            "flood" => Answer::Flood,
            "twice" => {
                let result = json!({"jsonrpc": "2.0", "id": id, "result": text("once")});
                Answer::Events(format!("data: {result}\n\n").repeat(3))
            }
            "redirect" => whole("307 Temporary Redirect", "location: http://169.254.169.254/latest\r\n", ""),
            "refused" => whole("401 Unauthorized", "www-authenticate: Bearer\r\n", ""),
            _ => self.result(seen, &text(session)),
        }
    }

    fn result(&self, seen: &Seen, result: &Value) -> Answer {
        json_body(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}))
    }
}

const JSON: &str = "content-type: application/json\r\n";

fn json_body(body: &Value) -> Answer {
    whole("200 OK", JSON, body.to_string())
}

fn whole(status: &'static str, headers: &str, body: impl Into<Vec<u8>>) -> Answer {
    Answer::Whole { status, headers: headers.to_owned(), body: body.into() }
}

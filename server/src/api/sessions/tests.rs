use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::super::{Heavy, router};
use super::*;
use crate::app::App;
use crate::config::{Config, ServerConfig};
use crate::telemetry::Metrics;

const CONFIG: &str = r#"
[policy]
effects = { model = { write = "allow" } }
roles = { guest = ["s.*", "tool_search"] }
[[providers]]
name = "s"
kind = "scripted"
tools = [
    { name = "write", effect = "write" },
    { name = "fetch", untrusted = true },
    { name = "deep", visibility = "deferred" },
    { name = "act", needs_source = true },
]
[[providers]]
name = "other"
kind = "scripted"
tools = [{ name = "elsewhere" }]
"#;

/// The API on a real socket.
struct Served {
    address: String,
    client: Client,
}

impl Served {
    async fn start() -> Self {
        let app = App::start(Config::parse(CONFIG)).await.unwrap();
        let config = ServerConfig::default();
        let metrics = Metrics::detached();
        let shared = Shared { app, metrics, max_body_bytes: config.max_body_bytes, heavy: Heavy::new() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = router(Arc::new(shared), &config);
        tokio::spawn(async move { axum::serve(listener, router).await });
        toolyard_providers::install_crypto_provider();
        Self { address, client: Client::builder().no_proxy().build().unwrap() }
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.client.request(method, format!("{}/{path}", self.address));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
    }

    /// How a call ends: the code of its error, or its status.
    async fn call(&self, tool: &str, arguments: Value) -> String {
        let calls = json!([{"call_id": "c", "tool": tool, "arguments": arguments}]);
        let request = json!({"session": "s", "tenant": "t", "calls": calls});
        let (_, document) = self.ask(Method::POST, "batches", Some(request)).await;
        let result = &document["results"][0];
        result["error"]["code"].as_str().or(result["status"].as_str()).unwrap().to_owned()
    }
}

#[tokio::test]
async fn profile_turns_messages_and_loaded_tools_decide_what_a_batch_may_do() {
    let api = Served::start().await;
    assert_eq!(api.ask(Method::GET, "sessions/s?tenant=t", None).await.0, 404);
    let profile = json!({"role": "guest", "locale": "zh"});
    let (status, state) = api.ask(Method::PUT, "sessions/s?tenant=t", Some(profile)).await;
    assert_eq!((status, &state["session"], &state["profile"]["role"]), (200, &json!("s"), &json!("guest")));
    assert_eq!(api.call("elsewhere", json!({})).await, "policy.denied");

    let turn = json!({"id": "1", "messages": [{"id": "m", "sender": "ann", "body": {"text": "请做"}}]});
    let (_, state) = api.ask(Method::POST, "sessions/s/turns?tenant=t", Some(turn)).await;
    assert_eq!(state["turn"], json!({"id": "1", "begun": true, "tainted": false, "stopped": false}));
    assert_eq!(api.call("act", json!({"source_message_id": "m"})).await, "ok");
    assert_eq!(api.ask(Method::POST, "sessions/s/messages/m/recall?tenant=t", None).await.0, 204);
    assert_eq!(api.call("act", json!({"source_message_id": "m"})).await, "policy.source_message");

    assert_eq!((api.call("write", json!({})).await, api.call("fetch", json!({})).await), ("ok".into(), "ok".into()));
    assert_eq!(api.call("write", json!({})).await, "policy.approval_required");
    api.ask(Method::POST, "sessions/s/turns?tenant=t", Some(json!({"id": "2"}))).await;
    assert_eq!(api.call("write", json!({})).await, "ok");

    assert_eq!(api.call("deep", json!({})).await, "policy.not_loaded");
    let (_, state) = api.ask(Method::POST, "sessions/s/loaded?tenant=t", Some(json!({"tools": ["s.deep"]}))).await;
    assert_eq!(state["loaded"], json!({"tools": ["s.deep"], "providers": []}));
    assert_eq!(api.call("deep", json!({})).await, "ok");
    assert_eq!(api.ask(Method::DELETE, "sessions/s/loaded?tenant=t", None).await.0, 204);
    assert_eq!(api.call("deep", json!({})).await, "policy.not_loaded");

    assert_eq!(api.ask(Method::DELETE, "sessions/s?tenant=t", None).await.0, 204);
    assert_eq!(api.ask(Method::DELETE, "sessions/s?tenant=t", None).await.1["code"], "session.unknown");
    let long = format!("sessions/{}", "x".repeat(257));
    assert_eq!(api.ask(Method::PUT, &long, Some(json!({}))).await.0, 400);
}

//! Prompts, resources and what else there is beside tools.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::{ErrorCode, JsonText};

use super::server::{Bench, Said, text};
use crate::mcp::upstream::client::McpClient;
use crate::mcp::upstream::pins::McpPins;
use crate::mcp::upstream::session::Session;
use crate::mcp::{McpEventKind, McpFeatures, McpRefusal, McpRequest};

fn request(method: &str, params: &str) -> McpRequest {
    McpRequest {
        method: method.into(),
        params: JsonText::parse(params).unwrap(),
        session: "".into(),
        tenant: "".into(),
        deadline: Instant::now() + Duration::from_secs(5),
        host: None,
    }
}

async fn ask(session: &Session, request: McpRequest) -> Result<JsonText, McpRefusal> {
    McpFeatures::request(session, request).await
}

#[tokio::test(start_paused = true)]
async fn requests_are_relayed_as_they_are() {
    let (mut server, session) = Bench::new(json!({})).legacy(json!({"prompts": {}})).await;
    assert_eq!(session.capabilities().as_str(), r#"{"prompts":{}}"#);
    let asked = Arc::clone(&session);
    let answer = tokio::spawn(async move { ask(&asked, request("prompts/get", r#"{"name":"x","y":1}"#)).await });
    let relayed = server.request("prompts/get").await;
    assert_eq!(relayed["params"], json!({"name": "x", "y": 1}));
    server.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"n": 1234567890123456789012}}}}"#, relayed["id"]));
    assert_eq!(answer.await.unwrap().unwrap().as_str(), r#"{"n": 1234567890123456789012}"#);

    let asked = Arc::clone(&session);
    let answer = tokio::spawn(async move { ask(&asked, request("prompts/get", "{}")).await });
    let relayed = server.request("prompts/get").await;
    server.refuse(&relayed, -32602);
    assert!(matches!(answer.await.unwrap().unwrap_err(), McpRefusal::Error { code: -32602, .. }));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_waits_for_is_cancelled() {
    let (mut server, session) = Bench::new(json!({})).legacy(json!({})).await;
    let refusal = ask(&session, request("resources/read", r#"{"uri":"x"}"#)).await.unwrap_err();
    let McpRefusal::Failed(failure) = refusal else { panic!("{refusal:?}") };
    assert_eq!(failure.code, ErrorCode::DeadlineExceeded);
    let relayed = server.request("resources/read").await;
    assert_eq!(server.cancelled().await, relayed["id"].as_u64().unwrap());
    assert_eq!(session.connection.pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_is_in_the_hub_while_it_is_connected_and_is_heard_there() {
    let bench = Bench::new(json!({}));
    let mut events = bench.hub.events();
    let (server, session) = bench.legacy(json!({})).await;
    assert!(bench.hub.members().is_empty());
    let client = McpClient::new(session, &bench.hub, None, McpPins::in_memory());
    assert_eq!(bench.hub.members().len(), 1);
    while events.try_recv().is_ok() {}
    server.notify("notifications/resources/updated", &json!({"uri": "x"}));
    server.notify("notifications/prompts/list_changed", &json!({}));
    server.notify("notifications/resources/list_changed", &json!({}));
    server.notify("notifications/nobody/knows", &json!({}));
    let kinds: Vec<McpEventKind> = std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.kind).collect();
    let [McpEventKind::ResourceUpdated { uri }, McpEventKind::PromptsChanged, McpEventKind::ResourcesChanged] =
        &kinds[..]
    else {
        panic!("{kinds:?}")
    };
    assert_eq!(uri, "x");
    toolyard::ToolProvider::close(&client).await;
    assert!(bench.hub.members().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_a_modern_server_has_no_method_for_is_done_in_its_own_way() {
    let bench = Bench::new(json!({}));
    let (mut server, session) = bench.modern(json!({"resources": {"subscribe": true, "listChanged": true}})).await;
    let _client = McpClient::new(Arc::clone(&session), &bench.hub, None, McpPins::in_memory());
    let first = server.request("subscriptions/listen").await;
    assert_eq!(first["params"]["notifications"], json!({"resourcesListChanged": true}));
    ask(&session, request("resources/subscribe", r#"{"uri":"file:///x"}"#)).await.unwrap();
    assert_eq!(server.cancelled().await, first["id"].as_u64().unwrap());
    let second = server.request("subscriptions/listen").await;
    assert_eq!(second["params"]["notifications"]["resourceSubscriptions"], json!(["file:///x"]));
    ask(&session, request("resources/unsubscribe", r#"{"uri":"file:///x"}"#)).await.unwrap();
    assert!(matches!(server.next().await, Said::Cancelled(_)));
    server.request("subscriptions/listen").await;

    ask(&session, request("logging/setLevel", r#"{"level":"debug"}"#)).await.unwrap();
    let asked = Arc::clone(&session);
    let answer = tokio::spawn(async move {
        ask(&asked, request("prompts/list", r#"{"_meta":{"progressToken":7,"io.modelcontextprotocol/logLevel":"x"}}"#))
            .await
    });
    let relayed = server.request("prompts/list").await;
    let meta = &relayed["params"]["_meta"];
    assert_eq!((&meta["io.modelcontextprotocol/logLevel"], &meta["progressToken"]), (&json!("debug"), &json!(7)));
    server.answer(&relayed, &text("x"));
    answer.await.unwrap().unwrap();
    let refusal = ask(&session, request("resources/subscribe", "{}")).await.unwrap_err();
    assert!(matches!(refusal, McpRefusal::Error { code: -32602, .. }));
}

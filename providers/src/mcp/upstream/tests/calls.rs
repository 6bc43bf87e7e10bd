//! What a call sends, how it ends, and what is left of it.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::{
    BatchEvent, CallStatus, Limits, Progress, ProviderSettings, RawArguments, ToolBatch, ToolCall, ToolRegistry,
};

use super::server::{Bench, FakeServer, call, start, text};
use crate::mcp::upstream::client::McpClient;
use crate::mcp::upstream::pins::McpPins;

#[tokio::test(start_paused = true)]
async fn arguments_and_results_keep_all_their_digits() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let big = "123456789012345678901234567890";
    let batch = ToolBatch::new(vec![call("c", &format!("{{\n\"n\": {big}\n}}"))]).with_native_results();
    let mut handle = registry.start(batch).await.unwrap();
    let sent = server.text().await;
    assert!(sent.as_str().contains(r#""arguments":{ "n": 123456789012345678901234567890 }"#), "{sent}");
    let request: serde_json::Value = sent.to().unwrap();
    server.say(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[], "structuredContent":{big},"x":1}}}}"#,
        request["id"]
    ));
    let outcome = handle.wait().await.unwrap();
    let result = &outcome.results[0].result;
    assert_eq!(result.structured_content.as_ref().unwrap().as_str(), big);
    assert!(result.native.as_ref().unwrap().as_str().contains(r#""x":1"#));
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_its_call_and_only_forwards() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let mut handle = start(&registry).await;
    let request = server.request("tools/call").await;
    let token = request["params"]["_meta"]["progressToken"].clone();
    assert_eq!(token, request["id"]);
    for done in [1.0, 2.5, 2.0, 2.5, 3.0] {
        server.notify(
            "notifications/progress",
            &json!({"progressToken": token, "progress": done, "total": 3, "message": "m"}),
        );
    }
    server.notify("notifications/progress", &json!({"progressToken": 999, "progress": 9}));
    server.notify("notifications/progress", &json!({"progressToken": token}));
    server.answer(&request, &text("done"));
    let mut reported = Vec::new();
    while let Some(event) = handle.events().next().await {
        if let BatchEvent::CallProgress { progress: Progress { done, .. }, .. } = event {
            reported.push(done);
        }
    }
    assert_eq!(reported, [1.0, 2.5, 3.0]);
}

#[tokio::test(start_paused = true)]
async fn progress_extends_the_idle_limit_and_never_the_deadline() {
    let (mut server, registry) = Bench::ready(json!({"idle_timeout_ms": 1000})).await;
    let begun = Instant::now();
    let mut handle = start(&registry).await;
    let request = server.request("tools/call").await;
    for done in 1..=5 {
        tokio::time::sleep(Duration::from_millis(900)).await;
        server.notify("notifications/progress", &json!({"progressToken": request["id"], "progress": done}));
    }
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].status, CallStatus::Timeout);
    assert_eq!(begun.elapsed().as_millis() / 100, 55, "0.9 s five times, and then a second of silence");
    assert_eq!(server.cancelled().await, request["id"].as_u64().unwrap());

    let batch = ToolBatch::new(vec![call("c", "{}")]).with_deadline(Duration::from_millis(1500));
    let mut handle = registry.start(batch).await.unwrap();
    let request = server.request("tools/call").await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    server.notify("notifications/progress", &json!({"progressToken": request["id"], "progress": 1}));
    let begun = Instant::now();
    assert_eq!(handle.wait().await.unwrap().results[0].status, CallStatus::Timeout);
    assert_eq!(begun.elapsed().as_millis(), 600);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_cancelled_calls_leave_nothing_behind() {
    let bench = Bench::new(json!({}));
    let (mut server, session) = bench.legacy(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, Arc::clone(&session)).await;
    for _ in 0..100 {
        let calls: Vec<ToolCall> = (0..100).map(|n| call(&format!("c{n}"), "{}")).collect();
        let mut handle = registry.start(ToolBatch::new(calls)).await.unwrap();
        let mut sent = Vec::new();
        for _ in 0..100 {
            sent.push(server.request("tools/call").await["id"].as_u64().unwrap());
        }
        handle.cancel();
        handle.wait().await.unwrap();
        let mut told = Vec::new();
        for _ in 0..100 {
            told.push(server.cancelled().await);
        }
        told.sort_unstable();
        assert_eq!(told, sent, "each is told by its own id, once");
    }
    assert_eq!(session.connection.pending(), 0);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(session.connection.given_up(), 0);
}

/// A provider that runs one call at a time.
async fn one_at_a_time() -> (FakeServer, ToolRegistry) {
    let bench = Bench::new(json!({}));
    let (mut server, session) = bench.legacy(json!({"tools": {}})).await;
    let registry = ToolRegistry::new(Limits::default());
    let mut settings = ProviderSettings::default();
    settings.max_in_flight = NonZeroUsize::new(1);
    let (made, client) = (registry.clone(), Arc::new(McpClient::new(session, &bench.hub, None, McpPins::in_memory())));
    let registering = tokio::spawn(async move { made.register(client, settings).await.unwrap() });
    let list = server.request("tools/list").await;
    server.answer(&list, &json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}));
    registering.await.unwrap();
    (server, registry)
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_keeps_its_place_until_the_server_acknowledges_or_a_second_is_over() {
    for acknowledges in [true, false] {
        let (mut server, registry) = one_at_a_time().await;
        let mut handle = start(&registry).await;
        let request = server.request("tools/call").await;
        handle.cancel();
        handle.wait().await.unwrap();
        server.cancelled().await;
        let begun = Instant::now();
        let _next = start(&registry).await;
        server.silence().await;
        if acknowledges {
            server.refuse(&request, -32800);
        }
        server.request("tools/call").await;
        assert_eq!(begun.elapsed().as_millis() >= 999, !acknowledges, "{:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_is_never_asked_for() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let other = ToolCall::new("c", "other", RawArguments::text("{}"));
    let outcome = registry.dispatch(ToolBatch::new(vec![other])).await;
    assert_eq!(outcome.results[0].status, CallStatus::UnknownTool);
    server.silence().await;
}

//! Sessions that servers forget.

use std::sync::Arc;

use serde_json::json;
use toolyard::{CallStatus, ToolBatch};

use super::server::{Bench, call, start, text};
use crate::mcp::upstream::transport::SendFailure;

#[tokio::test(start_paused = true)]
async fn a_forgotten_session_is_opened_again_once_for_all_its_calls_and_each_is_sent_once_more() {
    let bench = Bench::new(json!({}));
    let (mut server, session) = bench.legacy(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, Arc::clone(&session)).await;
    let mut handle = registry.start(ToolBatch::new(vec![call("a", "{}"), call("b", "{}")])).await.unwrap();
    let (a, b) = (server.request("tools/call").await, server.request("tools/call").await);
    server.fail(&a, SendFailure::SessionLost);
    server.fail(&b, SendFailure::SessionLost);
    server.initialize(&json!({"tools": {}})).await;
    let mut again = Vec::new();
    while again.len() < 2 {
        let request = server.message().await;
        match request["method"].as_str() {
            Some("tools/call") => again.push(request),
            Some("tools/list") => server.answer(&request, &json!({"tools": []})),
            _ => panic!("{request}"),
        }
    }
    for request in &again {
        server.answer(request, &text("ok"));
    }
    let outcome = handle.wait().await.unwrap();
    assert!(outcome.results.iter().all(|result| result.status == CallStatus::Ok), "{outcome:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_forgotten_again_at_once_is_given_up() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let mut handle = start(&registry).await;
    let request = server.request("tools/call").await;
    server.fail(&request, SendFailure::SessionLost);
    server.initialize(&json!({"tools": {}})).await;
    loop {
        let request = server.message().await;
        if request["method"] == "tools/call" {
            break server.fail(&request, SendFailure::SessionLost);
        }
        server.answer(&request, &json!({"tools": [{"name": "t", "inputSchema": {}}]}));
    }
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].status, CallStatus::Unavailable);
}

//! Answers that are late, doubled, broken, or to nothing.

use serde_json::json;
use toolyard::{CallStatus, ErrorCode, ToolBatch};

use super::server::{Bench, call, start, text};
use crate::mcp::McpEventKind;

#[tokio::test(start_paused = true)]
async fn calls_are_under_way_at_once_and_each_gets_its_own_answer() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let calls = (0..5).map(|n| call(&format!("c{n}"), &format!(r#"{{"n":{n}}}"#))).collect();
    let mut handle = registry.start(ToolBatch::new(calls)).await.unwrap();
    let mut requests = Vec::new();
    for _ in 0..5 {
        requests.push(server.request("tools/call").await);
    }
    for request in requests.iter().rev() {
        server.answer(request, &text(&request["params"]["arguments"]["n"].to_string()));
    }
    let outcome = handle.wait().await.unwrap();
    let said: Vec<String> = outcome.results.iter().map(|result| result.history_content()).collect();
    assert_eq!(said, ["0", "1", "2", "3", "4"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_its_timeout_is_dropped_and_the_next_call_gets_its_own() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let mut handle = start(&registry).await;
    let first = server.request("tools/call").await;
    handle.cancel_call(&"c".into());
    assert_eq!(server.cancelled().await, first["id"].as_u64().unwrap());
    let cancelled = handle.wait().await.unwrap();
    assert_eq!(cancelled.results[0].status, CallStatus::Cancelled);

    let mut handle = start(&registry).await;
    let second = server.request("tools/call").await;
    server.answer(&first, &text("late"));
    server.answer(&first, &text("late again"));
    server.answer(&second, &text("own"));
    server.answer(&second, &text("twice"));
    server.answer(&json!({"id": 9999}), &text("nobody's"));
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].history_content(), "own");
    server.silence().await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_answer_fails_its_call_and_no_other() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let mut handle = registry.start(ToolBatch::new(vec![call("a", "{}"), call("b", "{}")])).await.unwrap();
    let (a, b) = (server.request("tools/call").await, server.request("tools/call").await);
    server.inbox.receive(b"GBK: \xc4\xe3\xba\xc3", None);
    server.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"structuredContent":NaN}}}}"#, a["id"]));
    server.answer(&b, &text("fine"));
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].error.as_ref().unwrap().code, ErrorCode::ToolResultInvalid);
    assert_eq!(outcome.results[1].history_content(), "fine");
}

#[tokio::test(start_paused = true)]
async fn bad_answers_of_one_tool_again_and_again_shut_no_door() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let bad = [
        r#""result":{"content":[],"structuredContent":NaN}"#,
        r#""result":[]"#,
        r#""result":{"content":7}"#,
        r#""result":{"resultType":"task"}"#,
        r#""result":{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}}"#,
        r#""result":{"content":[],"_meta":{"n":1e999}}"#,
    ];
    for bad in bad.into_iter().cycle().take(12) {
        let mut handle = start(&registry).await;
        let request = server.request("tools/call").await;
        server.say(&format!(r#"{{"jsonrpc":"2.0","id":{},{bad}}}"#, request["id"]));
        let outcome = handle.wait().await.unwrap();
        assert_eq!(outcome.results[0].status, CallStatus::ToolError, "{bad}: {outcome:#?}");
    }
    let mut handle = start(&registry).await;
    let request = server.request("tools/call").await;
    server.answer(&request, &text("fine"));
    assert_eq!(handle.wait().await.unwrap().results[0].history_content(), "fine");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_fails_every_call_at_once_and_takes_no_new_one() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let mut handle = start(&registry).await;
    server.request("tools/call").await;
    server.end();
    let outcome = handle.wait().await.unwrap();
    let error = outcome.results[0].error.as_ref().unwrap();
    assert_eq!(error.code, ErrorCode::ProviderCrashed);
    assert!(error.message.contains("it broke"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_a_result_that_keeps_its_code() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let batch = ToolBatch::new(vec![call("c", "{}")]).with_native_results();
    let mut handle = registry.start(batch).await.unwrap();
    let request = server.request("tools/call").await;
    let error = r#"{"code":-32042,"message":"not now","data":{"n":123456789012345678901234567890}}"#;
    server.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, request["id"]));
    let outcome = handle.wait().await.unwrap();
    let result = &outcome.results[0];
    assert_eq!(result.status, CallStatus::ToolError);
    assert_eq!(result.result.metadata["jsonrpc_code"], -32042);
    assert_eq!(result.result.native.as_ref().unwrap().as_str(), error);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_its_own_secret_is_not_repeated_where_things_go_wrong() {
    let mut bench = Bench::new(json!({}));
    bench.secrets.add("s3cret-key");
    let mut events = bench.hub.events();
    let (mut server, session) = bench.legacy(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, session).await;
    let answers = [
        r#""error":{"code":-32000,"message":"bad s3cret-key","data":{"key":"s3cret\u002dkey"}}"#,
        r#""result":{"content":[{"type":"text","text":"bad s3cret-key"}],"isError":true,"structuredContent":["s3cret-key"]}"#,
        r#""result":{"resultType":"s3cret-key"}"#,
    ];
    for answer in answers {
        let batch = ToolBatch::new(vec![call("c", "{}")]).with_native_results();
        let mut handle = registry.start(batch).await.unwrap();
        let request = server.request("tools/call").await;
        server.notify("notifications/message", &json!({"level": "info", "data": ["s3cret-key"]}));
        server.say(&format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, request["id"]));
        let outcome = handle.wait().await.unwrap();
        let said = format!("{outcome:?}{}", serde_json::to_string(&outcome).unwrap());
        assert_eq!(outcome.results[0].status, CallStatus::ToolError);
        assert!(!said.contains("s3cret") && said.contains("***"), "{said}");
    }
    server.notify("notifications/message", &json!({"level": "info", "data": ["s3cret-key"]}));
    let mut lines = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let McpEventKind::Log { params } = event.kind {
            lines.push(params.as_str().to_owned());
        }
    }
    assert_eq!(lines.last().unwrap(), r#"{"level":"info","data":["***"]}"#);
    assert!(lines.iter().all(|line| !line.contains("s3cret")), "{lines:?}");
}

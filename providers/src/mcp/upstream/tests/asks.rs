//! What a server asks of its client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolyard::{
    BatchHandle, CallStatus, ErrorCode, HostPort, HostRequest, JsonText, ToolBatch, ToolExecutionContext, ToolFailure,
    ToolRegistry,
};

use super::server::{Bench, FakeServer, call, start, text};
use crate::mcp::McpEventKind;

/// Remembers what it was asked, and answers with the capability.
#[derive(Debug, Default)]
struct Host(Mutex<Vec<HostRequest>>);

/// Never answers.
#[derive(Debug)]
struct Mute;

impl HostPort for Host {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let answer = JsonText::object([("by", JsonText::string(&request.capability))]);
        self.0.lock().unwrap().push(request);
        Box::pin(std::future::ready(Ok(answer)))
    }
}

impl Host {
    fn asked(&self) -> Vec<String> {
        let asked = self.0.lock().unwrap();
        let who =
            |request: &HostRequest| request.caller.as_ref().map_or("-", |caller| caller.call_id.as_str()).to_owned();
        asked.iter().map(|request| format!("{} {} {}", who(request), request.capability, request.payload)).collect()
    }
}

impl HostPort for Mute {
    fn request(&self, _request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        Box::pin(std::future::pending())
    }
}

const ALL: &str = r#"{"offers": ["sampling", "elicitation", "roots"]}"#;

async fn start_with(registry: &ToolRegistry, host: Arc<dyn HostPort>) -> BatchHandle {
    registry.start(ToolBatch::new(vec![call("c", "{}")]).with_host(host)).await.unwrap()
}

fn ask(server: &FakeServer, id: &Value, method: &str, params: &Value) {
    server.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
}

#[tokio::test(start_paused = true)]
async fn requests_go_to_the_host_of_the_call_that_is_under_way() {
    let (mut server, registry) = Bench::ready(serde_json::from_str(ALL).unwrap()).await;
    let host = Arc::new(Host::default());
    let mut handle = start_with(&registry, Arc::clone(&host) as _).await;
    let request = server.request("tools/call").await;
    for (id, method, capability) in [
        (json!(1), "sampling/createMessage", "sampling.create"),
        (json!("x"), "elicitation/create", "elicitation.create"),
        (json!(1), "roots/list", "roots.list"),
    ] {
        ask(&server, &id, method, &json!({"a": 1}));
        let answer = server.message().await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": id, "result": {"by": capability}}));
    }
    server.answer(&request, &text("done"));
    handle.wait().await.unwrap();
    assert_eq!(host.asked()[0], r#"c sampling.create {"a":1}"#);
}

#[tokio::test(start_paused = true)]
async fn requests_of_no_call_go_to_the_providers_own_host_and_what_is_not_offered_is_refused() {
    let host = Arc::new(Host::default());
    let mut bench = Bench::new(json!({"offers": ["sampling"], "roots": [{"uri": "file:///srv"}]}));
    bench.host = Arc::clone(&host) as _;
    let (mut server, _session) = bench.legacy(json!({})).await;
    ask(&server, &json!(1), "sampling/createMessage", &json!({}));
    assert_eq!(server.message().await["result"]["by"], "sampling.create");
    assert_eq!(host.asked(), ["- sampling.create {}"]);
    ask(&server, &json!(2), "elicitation/create", &json!({}));
    assert_eq!(server.message().await["error"]["code"], -32601);
    ask(&server, &json!(3), "roots/list", &json!({}));
    assert_eq!(server.message().await["result"], json!({"roots": [{"uri": "file:///srv"}]}));
    ask(&server, &json!(4), "ping", &json!({}));
    assert_eq!(server.message().await["result"], json!({}));
    ask(&server, &json!(5), "nobody/knows", &json!({}));
    assert_eq!(server.message().await["error"]["code"], -32601);
}

#[tokio::test(start_paused = true)]
async fn with_several_calls_under_way_a_request_belongs_to_the_one_in_whose_stream_it_came_or_to_none() {
    let own = Arc::new(Host::default());
    let mut bench = Bench::new(serde_json::from_str(ALL).unwrap());
    bench.host = Arc::clone(&own) as _;
    let (mut server, session) = bench.legacy(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, session).await;
    let host = Arc::new(Host::default());
    let batch = ToolBatch::new(vec![call("a", "{}"), call("b", "{}")]).with_host(Arc::clone(&host) as _);
    let _handle = registry.start(batch).await.unwrap();
    server.request("tools/call").await;
    let b = server.request("tools/call").await;
    ask(&server, &json!(1), "elicitation/create", &json!({"_meta": {"progressToken": b["id"]}}));
    server.message().await;
    ask(&server, &json!(2), "elicitation/create", &json!({}));
    server.message().await;
    let stream = json!({"jsonrpc": "2.0", "id": 3, "method": "elicitation/create", "params": {}}).to_string();
    server.inbox.receive(stream.as_bytes(), b["id"].as_u64());
    server.message().await;
    assert!(host.asked().iter().all(|asked| asked.starts_with("b ")), "{:?}", host.asked());
    // A progress token of a request is its sender's own number, whatever call has the same.
    let own = own.asked();
    assert_eq!((host.asked().len(), own.len(), &*own[1]), (1, 2, "- elicitation.create {}"));
}

#[tokio::test(start_paused = true)]
async fn what_a_server_asks_after_a_call_has_ended_reaches_no_other_conversation() {
    let own = Arc::new(Host::default());
    let mut bench = Bench::new(serde_json::from_str(ALL).unwrap());
    bench.host = Arc::clone(&own) as _;
    let (mut server, session) = bench.legacy(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, session).await;
    let host = Arc::new(Host::default());
    let of_session = |id: &str, session: &str| {
        let context = ToolExecutionContext { session_id: session.to_owned(), ..ToolExecutionContext::default() };
        ToolBatch::new(vec![call(id, "{}")]).with_context(Arc::new(context)).with_host(Arc::clone(&host) as _)
    };
    let mut handles = Vec::new();
    for (given_up, asked_after, expected) in [("s1", "s2", (0, 1)), ("s3", "s3", (1, 0))] {
        let first = registry.start(of_session("a", given_up)).await.unwrap();
        server.request("tools/call").await;
        first.cancel();
        server.cancelled().await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        handles.push(registry.start(of_session("b", asked_after)).await.unwrap());
        let request = server.request("tools/call").await;
        ask(&server, &json!(1), "elicitation/create", &json!({}));
        server.message().await;
        let asked = |host: &Host| std::mem::take(&mut *host.0.lock().unwrap()).len();
        assert_eq!((asked(&host), asked(&own)), expected, "{given_up} {asked_after}");
        server.answer(&request, &text("done"));
        tokio::time::sleep(Duration::from_secs(601)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_the_server_takes_back_and_one_whose_call_ends_are_not_answered() {
    let (mut server, registry) = Bench::ready(serde_json::from_str(ALL).unwrap()).await;
    let mut handle = start_with(&registry, Arc::new(Mute)).await;
    let request = server.request("tools/call").await;
    ask(&server, &json!("x"), "elicitation/create", &json!({}));
    tokio::time::sleep(Duration::from_millis(1)).await;
    server.notify("notifications/cancelled", &json!({"requestId": "x"}));
    server.silence().await;
    ask(&server, &json!("y"), "elicitation/create", &json!({}));
    tokio::time::sleep(Duration::from_millis(1)).await;
    server.answer(&request, &text("done"));
    assert_eq!(handle.wait().await.unwrap().results[0].history_content(), "done");
    server.silence().await;
    ask(&server, &json!("y"), "ping", &json!({}));
    assert_eq!(server.message().await["id"], "y");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_requests_is_bounded() {
    let (mut server, registry) = Bench::ready(serde_json::from_str(ALL).unwrap()).await;
    let mut handle = start_with(&registry, Arc::new(Mute)).await;
    let request = server.request("tools/call").await;
    for id in 0..10_000 {
        ask(&server, &json!(id), "elicitation/create", &json!({}));
    }
    let mut refused = 0;
    while let Ok(message) = tokio::time::timeout(Duration::from_millis(1), server.message()).await {
        assert_eq!(message["error"]["message"], "too many requests are under way");
        refused += 1;
    }
    assert!((1..=256).contains(&refused), "{refused}");
    server.answer(&request, &text("done"));
    assert_eq!(handle.wait().await.unwrap().results[0].status, CallStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn log_lines_go_to_their_call_before_its_result_and_to_the_hub_where_there_is_none() {
    let bench = Bench::new(json!({}));
    let (mut server, session) = bench.legacy(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, session).await;
    let (host, mut events) = (Arc::new(Host::default()), bench.hub.events());
    let mut handle = start_with(&registry, Arc::clone(&host) as _).await;
    let request = server.request("tools/call").await;
    for n in 0..3 {
        server.notify("notifications/message", &json!({"level": "info", "data": n}));
    }
    server.answer(&request, &text("done"));
    handle.wait().await.unwrap();
    let lines: Vec<String> = (0..3).map(|n| format!(r#"c log.message {{"level":"info","data":{n}}}"#)).collect();
    assert_eq!(host.asked(), lines);
    server.notify("notifications/message", &json!({"level": "info", "data": "x"}));
    let event = events.try_recv().unwrap();
    let McpEventKind::Log { params } = event.kind else { panic!("{event:?}") };
    assert_eq!(params.as_str(), r#"{"level":"info","data":"x"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_takes_no_log_lines_holds_a_call_up_for_a_second_at_most() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let mut handle = start_with(&registry, Arc::new(Mute)).await;
    let request = server.request("tools/call").await;
    for n in 0..1_000 {
        server.notify("notifications/message", &json!({"level": "info", "data": n}));
    }
    server.answer(&request, &text("done"));
    let begun = tokio::time::Instant::now();
    assert_eq!(handle.wait().await.unwrap().results[0].status, CallStatus::Ok);
    assert!(begun.elapsed() < Duration::from_millis(1100), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_result_that_asks_for_more_is_answered_and_asked_again_with_its_state() {
    let bench = Bench::new(serde_json::from_str(ALL).unwrap());
    let (mut server, session) = bench.modern(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, session).await;
    let host = Arc::new(Host::default());
    let mut handle = start_with(&registry, Arc::clone(&host) as _).await;
    let first = server.request("tools/call").await;
    let requests =
        json!({"who": {"method": "elicitation/create", "params": {"message": "?"}}, "where": {"method": "roots/list"}});
    server.answer(&first, &json!({"resultType": "input_required", "inputRequests": requests, "requestState": "s1"}));
    let second = server.request("tools/call").await;
    assert_ne!(second["id"], first["id"]);
    let params = &second["params"];
    assert_eq!((&params["name"], &params["arguments"]), (&json!("t"), &json!({})));
    let responses = json!({"who": {"by": "elicitation.create"}, "where": {"by": "roots.list"}});
    assert_eq!((&params["inputResponses"], &params["requestState"]), (&responses, &json!("s1")));
    server.answer(&second, &json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]}));
    assert_eq!(handle.wait().await.unwrap().results[0].history_content(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_asks_for_ever_fails_alone() {
    let bench = Bench::new(json!({}));
    let (mut server, session) = bench.modern(json!({"tools": {}})).await;
    let registry = bench.serve(&mut server, session).await;
    let mut handle = start(&registry).await;
    for _ in 0..11 {
        let request = server.request("tools/call").await;
        server.answer(&request, &json!({"resultType": "input_required", "requestState": "again"}));
    }
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].error.as_ref().unwrap().code, ErrorCode::ToolFailed);
    server.silence().await;
}

//! The HTTP API over real sockets.

use serde_json::{Value, json};
use toolyard_tests::{Daemon, eventually, in_time, until};

const TOOLS: &str = r#"
[server]
max_body_bytes = 65536

[[providers]]
name = "builtin"
kind = "builtin"

[[providers]]
name = "s"
kind = "scripted"

[[providers.tools]]
name = "echo"

[[providers.tools]]
name = "slow"
latency_ms = 3600000
timeout_ms = 3600000

[[providers.tools]]
name = "typed"
parameters = { type = "object", properties = { n = { type = "integer" } }, required = ["n"] }
"#;

fn call(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({"call_id": id, "tool": tool, "arguments": arguments})
}

fn statuses(document: &Value) -> Vec<&str> {
    document["results"].as_array().unwrap().iter().map(|result| result["status"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_batch_in_each_form_gets_its_outcome_and_messages_in_that_form() {
    let daemon = Daemon::start(TOOLS).await;
    let calls =
        json!([call("a", "echo", &json!({"x": 1})), call("b", "nope", &json!({})), call("c", "finish", &json!({}))]);
    let (status, document) = daemon.batch(&json!({"batch_id": "mine", "calls": calls})).await;
    assert_eq!((status, statuses(&document)), (200, vec!["ok", "unknown_tool", "ok"]), "{document:#}");
    assert_eq!((&document["batch_id"], &document["stop"]), (&json!("mine"), &json!(true)));
    assert_eq!(document["stop_requested_by"], json!(["c"]));
    assert_eq!(document["results"][1]["error"]["code"], "tool.unknown");
    assert!(document["results"][1].get("provider").is_none(), "absent keys are left out");

    let openai = json!({"choices": [{"message": {"tool_calls": [
        {"id": "o", "type": "function", "function": {"name": "typed", "arguments": "{\"n\": \"x\"}"}}]}}]});
    let (_, document) = daemon.batch(&json!({"response": openai})).await;
    assert_eq!(statuses(&document), ["invalid_arguments"]);
    assert_eq!(document["results"][0]["error"]["pointer"], "/n");
    assert_eq!(document["messages"][0]["tool_call_id"], "o");

    let anthropic = json!({"content": [{"type": "tool_use", "id": "t", "name": "echo", "input": {"x": 2}}]});
    let (_, document) = daemon.batch(&json!({"response": anthropic, "format": "anthropic"})).await;
    assert_eq!(document["messages"][0]["content"][0]["tool_use_id"], "t");
}

#[tokio::test]
async fn a_reply_without_calls_is_a_normal_end() {
    let daemon = Daemon::start(TOOLS).await;
    let reply = json!({"choices": [{"finish_reason": "stop", "message": {"content": "bye"}}]});
    let (status, document) = daemon.batch(&json!({"response": reply})).await;
    assert_eq!((status, &document["results"], &document["messages"]), (200, &json!([]), &json!([])));
}

#[tokio::test]
async fn a_batch_can_be_cancelled_by_its_id_and_its_own_request_answers() {
    let daemon = Daemon::start(TOOLS).await;
    let request = json!({"batch_id": "b1", "calls": [call("a", "slow", &json!({})), call("b", "echo", &json!({}))]});
    let cancel = async {
        loop {
            let sent = daemon.client.delete(format!("{}/v1/batches/b1", daemon.address)).send().await.unwrap();
            match sent.status().as_u16() {
                202 => return,
                404 => tokio::task::yield_now().await,
                other => panic!("{other}"),
            }
        }
    };
    let ((status, document), ()) = in_time("the outcome", async { tokio::join!(daemon.batch(&request), cancel) }).await;
    assert_eq!((status, document["results"][0]["error"]["code"].as_str()), (200, Some("cancelled.batch")));
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_batch() {
    let daemon = Daemon::start(TOOLS).await;
    let request = json!({"batch_id": "left", "calls": [call("a", "slow", &json!({}))]});
    let in_flight = async |count: u32| {
        let line = format!("toolyard_calls_in_flight{{provider=\"s\"}} {count}\n");
        until(&line, async || daemon.get("/metrics").await.1.contains(&line)).await;
    };
    tokio::select! {
        outcome = daemon.batch(&request) => panic!("{outcome:?}"),
        () = in_flight(1) => {}
    }
    in_flight(0).await;
}

#[tokio::test]
async fn requests_that_cannot_be_used_say_why_and_harm_nobody() {
    let daemon = Daemon::start(TOOLS).await;
    for (request, code) in [
        (json!({}), "request.invalid"),
        (json!({"calls": [], "response": {}}), "request.invalid"),
        (json!({"callz": []}), "request.invalid"),
        (json!({"response": {"hello": 1}}), "reply.unusable"),
        (json!({"response": {}, "format": "klingon"}), "reply.unusable"),
        (json!({"calls": [], "batch_id": "a/b"}), "request.invalid"),
        (json!({"calls": [], "context": {"sesion_id": "x"}}), "request.invalid"),
        (json!({"calls": [call("a", "echo", &json!({"x": "y".repeat(70_000)}))]}), "request.too_large"),
    ] {
        let (status, problem) = daemon.batch(&request).await;
        assert!((400..500).contains(&status), "{status} {request}");
        assert_eq!(problem["code"], code, "{problem}");
        assert!(!problem["detail"].as_str().unwrap().is_empty());
    }
    let post = |body: &'static str, kind: &'static str| {
        daemon.client.post(format!("{}/v1/batches", daemon.address)).header("content-type", kind).body(body).send()
    };
    assert_eq!(post("{\"calls\": [", "application/json").await.unwrap().status(), 400);
    assert_eq!(post("{\"calls\": []}", "text/plain").await.unwrap().status(), 415);
    let foreign = daemon.client.get(format!("{}/v1/tools", daemon.address)).header("host", "evil.example").send();
    assert_eq!(foreign.await.unwrap().status(), 403);
    assert_eq!(daemon.get("/nothing").await.0, 404);
    let (status, document) = daemon.batch(&json!({"calls": [call("a", "echo", &json!({}))]})).await;
    assert_eq!((status, statuses(&document)), (200, vec!["ok"]));
}

#[tokio::test]
async fn tools_are_listed_in_each_form_the_same_every_time() {
    let daemon = Daemon::start(TOOLS).await;
    for (format, pointer) in
        [("native", "/tools/0/model_name"), ("openai-chat", "/tools/0/function/name"), ("anthropic", "/tools/0/name")]
    {
        let (status, first) = daemon.get(&format!("/v1/tools?format={format}")).await;
        let (_, second) = daemon.get(&format!("/v1/tools?format={format}")).await;
        assert_eq!((status, &first), (200, &second));
        let document: Value = serde_json::from_str(&first).unwrap();
        assert_eq!(document.pointer(pointer), Some(&json!("echo")), "sorted by name: {first}");
    }
    assert_eq!(daemon.get("/v1/tools?format=klingon").await.0, 400);
}

#[tokio::test]
async fn a_full_daemon_refuses_at_once_and_still_answers_who_watches_it() {
    use tokio::io::AsyncWriteExt;
    let daemon = Daemon::start("[server]\nmax_requests = 1\n").await;
    let head =
        "POST /v1/batches HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    let mut halves = Vec::new();
    let refused = eventually("a refusal", async || {
        // A half-sent request that came while the whole one was served was itself refused: another one is sent.
        let mut half = tokio::net::TcpStream::connect(daemon.address.trim_start_matches("http://")).await.unwrap();
        half.write_all(head.as_bytes()).await.unwrap();
        halves.push(half);
        let (status, document) = daemon.batch(&json!({"calls": []})).await;
        if status == 503 { Ok(document) } else { Err(document) }
    })
    .await;
    assert_eq!(refused["code"], "limit.requests");
    assert_eq!(daemon.get("/healthz").await.0, 200);
    assert_eq!(daemon.get("/metrics").await.0, 200);
}

#[tokio::test]
async fn sixty_four_clients_at_once_each_get_their_own_results() {
    let daemon = Daemon::start(TOOLS).await;
    let requests = (0..64).map(|n| {
        let daemon = &daemon;
        async move {
            let calls: Vec<Value> =
                (0..8).map(|i| call(&format!("{n}-{i}"), "echo", &json!({"n": n, "i": i}))).collect();
            let (status, document) = daemon.batch(&json!({"calls": calls})).await;
            assert_eq!(status, 200);
            for (i, result) in document["results"].as_array().unwrap().iter().enumerate() {
                assert_eq!(result["structured_content"], json!({"n": n, "i": i}));
            }
        }
    });
    futures::future::join_all(requests).await;
}

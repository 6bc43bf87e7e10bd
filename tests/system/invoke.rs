//! Acting without a model, over real sockets.

use serde_json::{Value, json};
use toolyard_tests::Daemon;

const TOOLS: &str = r#"
[[providers]]
name = "demo"
kind = "demo"

[[providers]]
name = "s"
kind = "scripted"

[[providers.tools]]
name = "echo"

[[providers.tools]]
name = "typed"
parameters = { type = "object", properties = { n = { type = "integer" } }, required = ["n"] }
"#;

async fn invoke(daemon: &Daemon, body: &Value) -> (u16, Value) {
    let sent = daemon.client.post(format!("{}/v1/invoke", daemon.address)).json(body).send().await.unwrap();
    (sent.status().as_u16(), sent.json().await.unwrap())
}

#[tokio::test]
async fn a_tool_runs_for_a_person_by_its_id_or_its_name() {
    let daemon = Daemon::start(TOOLS).await;
    for tool in ["s.echo", "echo"] {
        let body = json!({"tool": tool, "input": {"big": 1}, "context": {"user_id": "u"}, "session": "s1"});
        let (status, result) = invoke(&daemon, &body).await;
        assert_eq!((status, &result["status"], &result["cached"]), (200, &json!("ok"), &json!(false)), "{result:#}");
        assert_eq!(result["tool_id"], "s.echo");
    }
    let (_, result) = invoke(&daemon, &json!({"tool": "s.typed", "input": {"n": "1"}, "actor": "scheduler"})).await;
    assert_eq!((&result["status"], &result["error"]["pointer"]), (&json!("invalid_arguments"), &json!("/n")));
    let (_, result) = invoke(&daemon, &json!({"tool": "s.nothing"})).await;
    assert_eq!(result["status"], "unknown_tool");
    let (_, result) = invoke(&daemon, &json!({"tool": "s.echo", "ttl_ms": 1000})).await;
    assert_eq!((&result["status"], &result["error"]["code"]), (&json!("denied"), &json!("policy.denied")));
}

#[tokio::test]
async fn a_read_is_given_again_to_the_same_user_for_a_while() {
    let daemon = Daemon::start(TOOLS).await;
    let read = |user: &str, ttl: u64| json!({"tool": "demo.text_stats", "input": {"text": "two words"}, "context": {"user_id": user}, "ttl_ms": ttl});
    for (user, ttl, cached) in [("a", 60_000, false), ("a", 60_000, true), ("b", 60_000, false), ("a", 0, false)] {
        let (status, result) = invoke(&daemon, &read(user, ttl)).await;
        assert_eq!((status, &result["status"], &result["cached"]), (200, &json!("ok"), &json!(cached)), "{result:#}");
        assert_eq!((result.get("age_ms").is_some(), &result["structured_content"]["words"]), (cached, &json!(2)));
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_refused() {
    let daemon = Daemon::start(TOOLS).await;
    for body in [json!({}), json!({"tool": "echo", "actor": "model"}), json!({"tool": "echo", "inputs": {}})] {
        let (status, problem) = invoke(&daemon, &body).await;
        assert_eq!((status, &problem["code"]), (400, &json!("request.invalid")), "{body}");
    }
}

//! Sessions and policy over HTTP.

use reqwest::Method;
use serde_json::{Value, json};
use toolyard_tests::{Daemon, until};

const CONFIG: &str = r#"
[policy]
effects = { model = { write = "allow" } }
denied = [{ tools = ["rm"], user = "bot1", reason = "not for bots" }]
roles = { guest = ["s.*", "tool_search"] }

[policy.scenes."qq:group:1"]
denied = ["echo"]

[[providers]]
name = "s"
kind = "scripted"
tools = [
    { name = "echo" },
    { name = "rm" },
    { name = "write", effect = "write" },
    { name = "fetch", untrusted = true },
    { name = "deep", visibility = "deferred" },
    { name = "act", needs_source = true },
    { name = "unlock", user_only = true },
]

[[providers]]
name = "other"
kind = "scripted"
tools = [{ name = "elsewhere" }]
"#;

/// A daemon, and the session `s` of the tenant `t`.
struct Host(Daemon);

// === impl Host ===

impl Host {
    async fn start() -> Self {
        Self(Daemon::start(CONFIG).await)
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.0.client.request(method, format!("{}/v1/sessions/{path}", self.0.address));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or(Value::Null))
    }

    async fn begin_turn(&self, id: &str, messages: Value) -> Value {
        let (status, state) =
            self.ask(Method::POST, "s/turns?tenant=t", Some(json!({"id": id, "messages": messages}))).await;
        assert_eq!(status, 200, "{state}");
        state
    }

    /// How the call of a tool ends: its status, or the code of its error.
    async fn call(&self, tool: &str, arguments: Value, more: Value) -> String {
        let mut request =
            json!({"session": "s", "tenant": "t", "calls": [{"call_id": "c", "tool": tool, "arguments": arguments}]});
        request.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let (status, document) = self.0.batch(&request).await;
        assert_eq!(status, 200, "{document}");
        let result = &document["results"][0];
        result["error"]["code"].as_str().or(result["status"].as_str()).unwrap().to_owned()
    }

    async fn run(&self, tool: &str) -> String {
        self.call(tool, json!({}), json!({})).await
    }
}

#[tokio::test]
async fn a_session_is_opened_looked_at_and_ended() {
    let host = Host::start().await;
    assert_eq!(host.ask(Method::GET, "s?tenant=t", None).await.0, 404);
    let profile = json!({"group_id": "g", "is_group_chat": true, "role": "guest", "user_id": "ann", "locale": "zh"});
    let (status, state) = host.ask(Method::PUT, "s?tenant=t", Some(profile)).await;
    assert_eq!((status, &state["tenant"], &state["session"]), (200, &json!("t"), &json!("s")));
    assert_eq!((&state["profile"]["role"], &state["turn"]["begun"]), (&json!("guest"), &json!(false)));
    assert_eq!(host.ask(Method::GET, "s?tenant=t", None).await, (200, state));
    assert_eq!(host.ask(Method::GET, "s", None).await.0, 404, "another tenant has no such session");
    assert_eq!(host.run("elsewhere").await, "policy.denied", "the role is the profile's");
    assert_eq!(host.run("echo").await, "ok");

    assert_eq!(host.ask(Method::DELETE, "s?tenant=t", None).await.0, 204);
    assert_eq!(host.ask(Method::DELETE, "s?tenant=t", None).await.0, 404);
    assert_eq!(host.run("elsewhere").await, "ok", "a batch opens a session of its own, without a profile");
}

#[tokio::test]
async fn turns_bring_messages_and_end_taint() {
    let host = Host::start().await;
    let state = host
        .begin_turn("1", json!([{"id": "m1", "sender": "ann", "body": {"text": "请做"}}, {"id": "m2", "own": true}]))
        .await;
    assert_eq!(state["turn"], json!({"id": "1", "begun": true, "tainted": false, "stopped": false}));
    let source = async |id: &str| host.call("act", json!({"source_message_id": id}), json!({"turn": "1"})).await;
    assert_eq!((source("m1").await, source("m2").await), ("ok".to_owned(), "policy.source_message".to_owned()));
    assert_eq!(host.ask(Method::POST, "s/messages/m1/recall?tenant=t", None).await.0, 204);
    assert_eq!(source("m1").await, "policy.source_message");
    assert_eq!(host.ask(Method::POST, "s/messages/m9/recall?tenant=t", None).await.1["code"], "message.unknown");
    assert_eq!(host.ask(Method::POST, "none/messages/m1/recall?tenant=t", None).await.1["code"], "session.unknown");

    assert_eq!(host.run("write").await, "ok");
    assert_eq!(host.run("fetch").await, "ok");
    assert_eq!(host.run("write").await, "policy.approval_required");
    host.begin_turn("2", json!([])).await;
    assert_eq!(host.run("write").await, "ok");
    assert_eq!(host.call("echo", json!({}), json!({"turn": "1"})).await, "policy.denied", "that turn is over");
    assert_eq!(host.call("echo", json!({}), json!({"turn": "3"})).await, "ok", "a turn begins with its first batch");
}

#[tokio::test]
async fn what_is_loaded_is_callable_until_history_is_compacted() {
    let host = Host::start().await;
    assert_eq!(host.run("deep").await, "policy.not_loaded");
    let (status, state) = host.ask(Method::POST, "s/loaded?tenant=t", Some(json!({"tools": ["s.deep"]}))).await;
    assert_eq!((status, &state["loaded"]), (200, &json!({"tools": ["s.deep"], "providers": []})));
    assert_eq!(host.run("deep").await, "ok");
    assert_eq!(host.ask(Method::DELETE, "s/loaded?tenant=t", None).await.0, 204);
    assert_eq!(host.run("deep").await, "policy.not_loaded");
    assert_eq!(host.ask(Method::DELETE, "none/loaded", None).await.0, 404);
    let without_session = json!({"calls": [{"call_id": "c", "tool": "deep", "arguments": {}}]});
    assert_eq!(host.0.batch(&without_session).await.1["results"][0]["status"], "ok");
}

#[tokio::test]
async fn policy_decides_by_user_scene_and_actor() {
    let host = Host::start().await;
    let of = |context: Value| json!({"context": context});
    assert_eq!(host.call("rm", json!({}), of(json!({"user_id": "bot1"}))).await, "policy.denied");
    assert_eq!(host.call("rm", json!({}), of(json!({"user_id": "ann"}))).await, "ok");
    assert_eq!(host.call("echo", json!({}), of(json!({"stream_id": "qq:group:1"}))).await, "policy.denied");
    for (actor, expected) in [("model", "policy.user_only"), ("scheduler", "policy.user_only"), ("user", "ok")] {
        assert_eq!(host.call("unlock", json!({}), of(json!({"actor": actor}))).await, expected, "{actor}");
    }
    assert_eq!(host.call("write", json!({}), of(json!({"actor": "scheduler"}))).await, "policy.denied");
}

#[tokio::test]
async fn what_cannot_be_a_session_is_refused() {
    let host = Host::start().await;
    let long = "x".repeat(257);
    for (path, body) in [
        (format!("{long}?tenant=t"), json!({})),
        (format!("s?tenant={long}"), json!({})),
        ("s?tenat=t".to_owned(), json!({})),
        ("s".to_owned(), json!({"rolle": "guest"})),
        ("s".to_owned(), json!([])),
    ] {
        let (status, problem) = host.ask(Method::PUT, &path, Some(body)).await;
        assert_eq!((status, &problem["code"]), (400, &json!("request.invalid")), "{path}");
    }
    for turn in [json!({"id": ""}), json!({"id": "1", "messages": [{"id": ""}]}), json!({"messages": []})] {
        assert_eq!(host.ask(Method::POST, "s/turns", Some(turn.clone())).await.0, 400, "{turn}");
    }
    let address = format!("{}/v1/sessions/s/messages/m/recall", host.0.address);
    let from_a_page = host.0.client.post(address).header("origin", "https://page.example").send().await.unwrap();
    assert_eq!(from_a_page.status().as_u16(), 403);
    let long_in_a_batch = host.0.batch(&json!({"session": long, "calls": []})).await;
    assert_eq!((long_in_a_batch.0, &long_in_a_batch.1["code"]), (400, &json!("request.invalid")));
}

#[tokio::test]
async fn a_policy_that_cannot_be_meant_is_told_in_the_log() {
    let daemon = Daemon::start(
        "[policy]\ndenied = [{ tools = [\"ech\"] }]\nroles = { guest = [\"deep\"] }\n[[providers]]\nname = \"s\"\n\
         kind = \"scripted\"\ntools = [{ name = \"echo\" }, { name = \"deep\", visibility = \"deferred\" }]\n",
    )
    .await;
    let told = ["names `ech`, which no tool is called", "role `guest` may use `deep`"];
    until("both are told", async || told.iter().all(|finding| daemon.log().contains(finding))).await;
}

//! Providers over the HTTP API: their states, and making them anew.

use std::path::Path;

use serde_json::{Value, json};
use toolyard_tests::{Daemon, Environment, eventually};

/// A real MCP server through a shell, so that what it starts can be changed while the daemon runs.
fn config(script: &Path) -> String {
    format!(
        r#"
[[providers]]
name = "far"
kind = "mcp"
command = "sh"
args = [{script:?}]
breaker = {{ failures = 2, open_ms = 3600000 }}

[[providers]]
name = "s"
kind = "scripted"
[[providers.tools]]
name = "echo"
"#
    )
}

async fn post(daemon: &Daemon, path: &str) -> (u16, Value) {
    let sent = daemon.client.post(format!("{}{path}", daemon.address)).send().await.unwrap();
    (sent.status().as_u16(), sent.json().await.unwrap())
}

async fn get(daemon: &Daemon, path: &str) -> (u16, Value) {
    let (status, body) = daemon.get(path).await;
    (status, serde_json::from_str(&body).unwrap())
}

async fn until_state(daemon: &Daemon, wanted: &str) {
    eventually(wanted, async || {
        let (_, provider) = get(daemon, "/v1/providers/far").await;
        if provider["state"] == wanted { Ok(()) } else { Err(provider) }
    })
    .await;
}

async fn status_of_call(daemon: &Daemon, tool: &str, arguments: &Value) -> Value {
    let calls = json!([{"call_id": "c", "tool": tool, "arguments": arguments}]);
    let (_, document) = daemon.batch(&json!({"calls": calls})).await;
    document["results"][0].clone()
}

#[tokio::test]
async fn a_provider_can_be_looked_at_and_reloaded() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    let python = Environment::get().python;
    let works = format!("exec {python:?} -m mcp_server_time --local-timezone UTC\n");
    std::fs::write(&script, &works).unwrap();
    let daemon = Daemon::start(&config(&script)).await;
    until_state(&daemon, "up").await;
    let (status, one) = get(&daemon, "/v1/providers/far").await;
    assert_eq!((status, &one["name"], &one["kind"], &one["starts"]), (200, &json!("far"), &json!("mcp"), &json!(1)));

    let (status, reloaded) = post(&daemon, "/v1/providers/far/reload").await;
    assert_eq!((status, &reloaded["state"], &reloaded["starts"]), (200, &json!("up"), &json!(2)), "{reloaded}");
    let (status, reloaded) = post(&daemon, "/v1/providers/s/reload").await;
    assert_eq!((status, &reloaded["state"]), (200, &json!("up")));

    std::fs::write(&script, "echo the disk is full >&2; exit 3\n").unwrap();
    let (status, problem) = post(&daemon, "/v1/providers/far/reload").await;
    assert_eq!((status, &problem["code"]), (502, &json!("provider.start_failed")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("the disk is full"), "{problem}");
    let time = status_of_call(&daemon, "far__get_current_time", &json!({"timezone": "UTC"})).await;
    assert_eq!(time["status"], "ok", "the old one stays: {time}");

    for (status, problem) in
        [get(&daemon, "/v1/providers/nobody").await, post(&daemon, "/v1/providers/nobody/reload").await]
    {
        assert_eq!((status, &problem["code"]), (404, &json!("provider.unknown")));
        assert!(problem["detail"].as_str().unwrap().contains("nobody"));
    }
    assert_eq!(post(&daemon, "/v1/providers/far").await.0, 405);
}

#[tokio::test]
async fn a_server_that_never_starts_is_shown_as_such_until_someone_mends_and_reloads_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    std::fs::write(&script, "echo the disk is full >&2; exit 3\n").unwrap();
    let daemon = Daemon::start(&config(&script)).await;
    until_state(&daemon, "breaker_open").await;
    let refused = status_of_call(&daemon, "far__get_current_time", &json!({"timezone": "UTC"})).await;
    assert_eq!(
        (&refused["status"], &refused["error"]["code"]),
        (&json!("unavailable"), &json!("provider.breaker_open"))
    );
    assert!(daemon.get("/metrics").await.1.contains("toolyard_provider_breaker_open{provider=\"far\"} 1"));
    assert_eq!(status_of_call(&daemon, "echo", &json!({})).await["status"], "ok");

    let python = Environment::get().python;
    std::fs::write(&script, format!("exec {python:?} -m mcp_server_time --local-timezone UTC\n")).unwrap();
    // It may come up by itself just before.
    let (status, reloaded) = post(&daemon, "/v1/providers/far/reload").await;
    assert_eq!((status, &reloaded["state"]), (200, &json!("up")), "{reloaded}");
    let time = status_of_call(&daemon, "far__get_current_time", &json!({"timezone": "UTC"})).await;
    assert_eq!(time["status"], "ok", "{time}");
    assert!(daemon.get("/metrics").await.1.contains("toolyard_provider_breaker_open{provider=\"far\"} 0"));
}

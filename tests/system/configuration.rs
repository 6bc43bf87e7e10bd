//! Configurations that cannot be used, and providers that cannot start.

use serde_json::json;
use toolyard_tests::{Daemon, eventually, run_cli};

async fn refused(config: &str) -> String {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(file.path(), config).unwrap();
    let output = run_cli(&["serve", "--listen", "127.0.0.1:0", "--config", file.path().to_str().unwrap()]).await;
    assert_eq!(output.status.code(), Some(2), "{config}");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn every_mistake_is_named_with_its_place() {
    let errors = refused("[server]\nlisten = 7\n\n[[providers]]\nname = \"x\"\nkind = \"mcp\"\ncomand = \"y\"\n").await;
    assert!(errors.contains(".toml:2:10") && errors.contains(".toml:7:1"), "{errors}");
    assert!(errors.contains("did you mean `command`"), "{errors}");
    assert!(refused("[server]\nlisten = \"0.0.0.0:1\"\n").await.contains("loopback"));
    let scripted =
        "[[providers]]\nname = \"s\"\nkind = \"scripted\"\n[[providers.tools]]\nname = \"t\"\nfailure_rate = 7.0\n";
    let errors = refused(scripted).await;
    assert!(errors.contains("`s`") && errors.contains("failure_rate"), "{errors}");
}

#[tokio::test]
async fn a_provider_that_cannot_start_costs_nobody_else_anything() {
    let config = r#"
[[providers]]
name = "bad"
kind = "mcp"
command = "/nonexistent/server"
required = true

[[providers]]
name = "dies"
kind = "mcp"
command = "sh"
args = ["-c", "echo the disk is full >&2; exit 3"]

[[providers]]
name = "s"
kind = "scripted"
[[providers.tools]]
name = "echo"
[[providers.tools]]
name = "broken"
parameters = { type = "nonsense" }
"#;
    let daemon = Daemon::start(config).await;
    let calls = json!([
        {"call_id": "a", "tool": "echo", "arguments": {}},
        {"call_id": "b", "tool": "bad__tool", "arguments": {}},
        {"call_id": "c", "tool": "broken", "arguments": {}},
    ]);
    let (_, document) = daemon.batch(&json!({"calls": calls})).await;
    let statuses: Vec<_> =
        document["results"].as_array().unwrap().iter().map(|r| r["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["ok", "unavailable", "unknown_tool"], "{document:#}");

    let seen = eventually("both reasons", async || {
        let (_, seen) = daemon.get("/v1/providers").await;
        let is_told = seen.contains("/nonexistent/server") && seen.contains("the disk is full");
        if is_told { Ok(seen) } else { Err(seen) }
    })
    .await;
    assert!(seen.contains("/nonexistent/server") && seen.contains("exit status: 3"), "{seen}");
    assert!(seen.contains("\"rejected\":[{\"name\":\"broken\""), "{seen}");
    let (status, problem) = daemon.get("/readyz").await;
    assert!(status == 503 && problem.contains("bad"), "a required provider is missing: {problem}");
    assert_eq!(daemon.get("/healthz").await.0, 200);
}

//! Real clients of other projects: the official Python and TypeScript SDKs.

use serde_json::{Value, json};
use tokio::process::Command;
use toolyard_tests::Environment;

use super::{PATIENCE, asking, daemon, tests};

/// Runs a client to its end and reads what it saw.
async fn saw(command: &mut Command) -> Value {
    let ran = tokio::time::timeout(2 * PATIENCE, command.kill_on_drop(true).output());
    let output = ran.await.expect("the client did not end").unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"))
}

fn python(mode: &str, target: &[&str]) -> Command {
    let mut command = Command::new(Environment::get().python);
    command.arg(tests().join("clients/mcp_client.py")).arg(mode).args(target);
    command
}

fn node(target: &[&str]) -> Command {
    let mut command = Command::new("node");
    command.arg(tests().join("clients/mcp_client.mjs")).arg(Environment::get().node_modules).args(target);
    command
}

fn check(seen: &Value) {
    assert!(seen["tools"].as_array().unwrap().contains(&json!("asking__echo")), "{seen}");
    assert_eq!(seen["prompts"], json!(["asking__greet"]));
    assert_eq!(seen["resource"], "a note");
    let done: Vec<f64> = seen["progress"].as_array().unwrap().iter().map(|step| step[0].as_f64().unwrap()).collect();
    assert_eq!(done, [1.0, 2.0, 3.0], "{seen}");
    assert_eq!(seen["asked"], json!(["What is your name?"]));
    assert_eq!(seen["answer"], json!({"action": "accept", "content": {"name": "Ada"}}));
    assert_eq!(seen["cancelled"], "1 of 1", "the cancelled call was cancelled at its server: {seen}");
}

/// The command that serves over standard streams, once its server is up.
fn over_stdio() -> (tempfile::NamedTempFile, [String; 4]) {
    let config = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(config.path(), asking()).unwrap();
    let binary = Environment::get().binary.display().to_string();
    let path = config.path().display().to_string();
    (config, [binary, "mcp".to_owned(), "--config".to_owned(), path])
}

#[tokio::test]
async fn the_python_sdk_uses_everything_in_both_eras() {
    for (mode, version) in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")] {
        let daemon = daemon("").await;
        let seen = saw(&mut python(mode, &[&format!("{}/mcp", daemon.address)])).await;
        assert_eq!(seen["version"], version);
        assert_eq!(seen["echo"], r#"{"n": 12345678901234567890123}"#);
        check(&seen);
    }
}

#[tokio::test]
async fn the_python_sdk_uses_everything_over_standard_streams() {
    for mode in ["legacy", "2026-07-28"] {
        let (_config, command) = over_stdio();
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        check(&saw(&mut python(mode, &command)).await);
    }
}

#[tokio::test]
async fn the_typescript_sdk_uses_everything_over_http_and_standard_streams() {
    let daemon = daemon("").await;
    let seen = saw(&mut node(&[&format!("{}/mcp", daemon.address)])).await;
    assert_eq!((&seen["changes"], &seen["echo"]), (&json!(1), &json!(r#"{"words": "\u4f60\u597d"}"#)));
    check(&seen);
    let (_config, command) = over_stdio();
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    check(&saw(&mut node(&command)).await);
}

//! What the daemon's metrics say.

use serde_json::{Value, json};
use toolyard_tests::Daemon;

const TOOLS: &str = r#"
[limits]
max_batch_calls = 3

[[providers]]
name = "s"
kind = "scripted"
[[providers.tools]]
name = "echo"
parameters = { type = "object", properties = { n = { type = "integer" } } }
[[providers.tools]]
name = "fails"
failure_rate = 1.0
[[providers.tools]]
name = "slow"
latency_ms = 60000
timeout_ms = 20
"#;

fn call(n: usize, tool: &str, arguments: &Value) -> Value {
    json!({"call_id": format!("secret-id-{n}"), "tool": tool, "arguments": arguments})
}

/// Name, labels and value of every sample.
fn samples(metrics: &str) -> Vec<(&str, &str, f64)> {
    metrics
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            (name, labels, value.parse().unwrap())
        })
        .collect()
}

fn calls_with(metrics: &str, status: &str) -> f64 {
    let label = format!("status=\"{status}\"");
    let all = samples(metrics).into_iter();
    all.filter(|(name, labels, _)| *name == "toolyard_calls_total" && labels.contains(&label)).map(|(_, _, n)| n).sum()
}

#[tokio::test]
async fn each_call_is_counted_once_under_its_status() {
    let daemon = Daemon::start(TOOLS).await;
    let call_of = |n, tool: &str, arguments: Value| call(n, tool, &arguments);
    let calls = [
        call_of(0, "echo", json!({})),
        call_of(1, "fails", json!({})),
        call_of(2, "nope", json!({})),
        call_of(3, "echo", json!({})),
    ];
    daemon.batch(&json!({"calls": calls})).await;
    daemon.batch(&json!({"calls": [call_of(4, "echo", json!({"n": "x"})), call_of(5, "slow", json!({}))]})).await;
    let (_, metrics) = daemon.get("/metrics").await;
    for status in ["ok", "tool_error", "unknown_tool", "overloaded", "invalid_arguments", "timeout"] {
        assert!((calls_with(&metrics, status) - 1.0).abs() < f64::EPSILON, "{status}\n{metrics}");
    }
    let all: f64 = samples(&metrics).iter().filter(|(name, ..)| *name == "toolyard_calls_total").map(|s| s.2).sum();
    assert!((all - 6.0).abs() < f64::EPSILON, "{metrics}");
    for expected in [
        "toolyard_batch_duration_seconds_count 2",
        "toolyard_call_failures_total{provider=\"s\",kind=\"reported\"} 1",
        "toolyard_call_refusals_total{gate=\"arguments\",code=\"arguments.schema\"} 1",
        "toolyard_provider_up{provider=\"s\"} 1",
        "toolyard_calls_in_flight{provider=\"s\"} 0",
        "toolyard_mailbox_depth{actor=\"registry\"} 0",
        "# TYPE toolyard_call_run_seconds histogram",
        "# TYPE toolyard_call_queue_wait_seconds histogram",
        "# TYPE toolyard_call_duration_seconds histogram",
    ] {
        assert!(metrics.contains(expected), "{expected}\n{metrics}");
    }
}

#[tokio::test]
async fn made_up_names_add_no_series_and_nothing_private_becomes_a_label() {
    let daemon = Daemon::start(TOOLS).await;
    let flood = async |from: usize| {
        for batch in 0..100 {
            let calls: Vec<Value> =
                (0..3).map(|n| call(n, &format!("made_up_{from}_{batch}_{n}"), &json!({"private": "text"}))).collect();
            daemon.batch(&json!({"calls": calls, "context": {"user_id": "private-user"}})).await;
        }
        daemon.get("/metrics").await.1
    };
    let before = flood(0).await;
    let after = flood(1).await;
    assert_eq!(samples(&before).len(), samples(&after).len());
    assert!(
        after.contains("toolyard_calls_total{provider=\"_unknown\",tool=\"_unknown\",status=\"unknown_tool\"} 600")
    );
    for private in ["made_up", "secret-id", "private"] {
        assert!(!after.contains(private), "{private}\n{after}");
    }
}

//! What was dropped and skipped is counted.

use std::path::Path;

use serde_json::json;
use toolyard_tests::{Daemon, Environment};

use super::text;

/// The value of the metric with this name and these labels.
fn metric(page: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let is_it = |line: &&str| line.starts_with(name) && labels.iter().all(|label| line.contains(label));
    page.lines().find(is_it)?.rsplit(' ').next()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_and_noise_of_a_server_are_counted() {
    let script = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("servers/hostile_mcp.py"));
    let python = text(&Environment::get().python);
    let config = format!(
        "[[providers]]\nname = \"hostile\"\nkind = \"mcp\"\nnaming = \"bare\"\nrequired = true\n\
         command = {python:?}\nargs = [{script:?}, \"--greeting\", \"--answers-cancelled\"]\n"
    );
    let daemon = Daemon::start(&config).await;
    loop {
        let (status, _) = daemon.get("/readyz").await;
        if status == 200 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let calls = json!([
        {"call_id": "a", "tool": "twice", "arguments": {}},
        {"call_id": "b", "tool": "nan", "arguments": {}},
        {"call_id": "c", "tool": "never", "arguments": {}},
    ]);
    let (status, outcome) = daemon.batch(&json!({"calls": calls, "deadline_ms": 500})).await;
    assert_eq!(status, 200, "{outcome}");
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let (_, page) = daemon.get("/metrics").await;
    const DROPPED: &str = "toolyard_mcp_replies_dropped_total";
    for why in ["late", "duplicate", "unknown"] {
        let label = format!("why=\"{why}\"");
        assert_eq!(metric(&page, DROPPED, &["provider=\"hostile\"", &label]), Some(1.0), "{why}");
    }
    assert_eq!(metric(&page, "toolyard_mcp_replies_broken_total", &["hostile"]), Some(1.0));
    assert_eq!(metric(&page, "toolyard_mcp_requests_pending", &["hostile"]), Some(0.0));
    assert!(metric(&page, "toolyard_mcp_noise_bytes_total", &["hostile"]).is_some_and(|bytes| bytes > 40.0));
}

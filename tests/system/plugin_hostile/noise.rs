//! Too much output, too many log lines, results that cannot be sent.

use std::time::Duration;

use serde_json::json;
use toolyard::CallStatus;

use crate::plugin_fleet::{Fleet, gone};

/// The plugin goes on with this while its neighbours and itself answer.
async fn costs_nobody_anything(deed: &str, value: &str) {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    assert_eq!(fleet.call("bad", deed, json!(value)).await.status, CallStatus::Ok);
    for _ in 0..10 {
        fleet.neighbours_answer().await;
        assert_eq!(fleet.value("bad", "answer", json!(7)).await, json!(7));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(fleet.status("bad").starts, 1);
    let pid = fleet.pid("bad").await;
    fleet.close().await;
    gone(pid).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_lines_are_read_and_left_out() {
    costs_nobody_anything("noise", "lines").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_output_without_lines_is_read_and_left_out() {
    costs_nobody_anything("noise", "one line").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_log_lines_is_cut() {
    costs_nobody_anything("log", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_log_lines_past_the_runner_is_cut() {
    costs_nobody_anything("raw_logs", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_cannot_be_sent_fail_their_calls_only() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    for (kind, said) in [
        ("nan", "JSON has no nan"),
        ("set", "set has no form in JSON"),
        ("large", "at most 16777216 can be sent"),
        ("deepest", "too deep"),
    ] {
        let result = fleet.call("bad", "give", json!(kind)).await;
        assert_eq!(result.status, CallStatus::ToolError, "{kind}: {result:?}");
        assert!(result.history_content().contains(said), "{kind}: {}", result.history_content());
        fleet.neighbours_answer().await;
    }
    for kind in ["deep", "deeper"] {
        let result = fleet.call("bad", "give", json!(kind)).await;
        assert_eq!(result.status, CallStatus::ToolError, "{kind}: {result:?}");
        // The engine refuses it, or Python cannot write it.
        let said = result.history_content();
        assert!(said.contains("nested deeper than 100 levels") || said.contains("nested too deep"), "{kind}: {said}");
        fleet.neighbours_answer().await;
    }
    fleet.answers("bad", 1).await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_outside_the_usual_family_fail_their_calls_only() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    for kind in ["spoken", "mute"] {
        let result = fleet.call("bad", "raise", json!(kind)).await;
        assert_eq!(result.status, CallStatus::ToolError, "{kind}: {result:?}");
    }
    let result = fleet.call("bad", "exit", json!(null)).await;
    assert_eq!(result.status, CallStatus::ToolError);
    fleet.answers("bad", 1).await;
    fleet.neighbours_answer().await;
    fleet.close().await;
}

//! Replies that are late, doubled, broken, too large, or never come.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::{BatchEvent, CallStatus, ErrorCode, Progress, ToolBatch};

use super::{Hostile, call, statuses};

/// The reply to this call cannot be used: the call fails, one beside it does not, and the server goes on.
async fn fails_alone(server: &Hostile, tool: &str, arguments: serde_json::Value) {
    let outcome = server.run(vec![call("bad", tool, arguments), call("good", "echo", json!({}))]).await;
    assert_eq!(statuses(&outcome), [CallStatus::ToolError, CallStatus::Ok], "{tool}: {outcome:#?}");
    assert_eq!(outcome.results[0].error.as_ref().unwrap().code, ErrorCode::ToolResultInvalid, "{tool}");
    assert!(outcome.results[0].duration < Duration::from_secs(15), "{tool} waited for its deadline");
    assert_eq!(server.status().starts, 1, "{tool}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_that_json_has_not_fail_their_call() {
    let server = Hostile::start(&[]).await;
    fails_alone(&server, "nan", json!({})).await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_utf_8_fail_their_call() {
    let server = Hostile::start(&[]).await;
    fails_alone(&server, "bad_utf8", json!({})).await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_over_the_limit_fail_their_call_wherever_their_id_stands() {
    let server = Hostile::start(&[]).await;
    fails_alone(&server, "oversize", json!({"mib": 17})).await;
    fails_alone(&server, "id_last", json!({"mib": 17})).await;
    let large = server.run(vec![call("large", "oversize", json!({"mib": 1}))]).await;
    assert_eq!(statuses(&large), [CallStatus::Ok]);
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_are_cut_off_or_of_a_wrong_shape_fail_their_call() {
    let server = Hostile::start(&[]).await;
    for tool in ["cut_off", "not_a_result", "neither"] {
        fails_alone(&server, tool, json!({})).await;
    }
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_replies_again_and_again_leave_the_server_open_to_everybody() {
    let breaker = |settings: &mut toolyard::ProviderSettings| settings.breaker = Some(toolyard::Breaker::default());
    let server = Hostile::launch(&[], |config| config.options.max_message_bytes = 1 << 20, breaker).await;
    server.registry.wait_started(super::START).await;
    for tool in ["nan", "not_a_result", "oversize", "cut_off", "bad_utf8", "neither"] {
        let outcome = server.run(vec![call("bad", tool, json!({"mib": 2}))]).await;
        assert_eq!(statuses(&outcome), [CallStatus::ToolError], "{tool}: {outcome:#?}");
    }
    server.is_well().await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_reply_and_one_to_nothing_are_dropped() {
    let server = Hostile::start(&[]).await;
    let outcome = server.run(vec![call("a", "twice", json!({})), call("b", "echo", json!({"text": "own"}))]).await;
    assert_eq!(outcome.results[0].history_content(), "first");
    assert_eq!(outcome.results[1].history_content(), "own");
    server.is_well().await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_never_answered_times_out_and_the_server_is_told_which() {
    let server = Hostile::start(&["--answers-cancelled"]).await;
    let batch = ToolBatch::new(vec![call("a", "never", json!({}))]).with_deadline(Duration::from_millis(300));
    let outcome = server.registry.dispatch(batch).await;
    assert_eq!(statuses(&outcome), [CallStatus::Timeout]);
    let cancelled = server.wait_heard("notifications/cancelled", 1).await;
    assert_eq!(cancelled[0]["params"]["requestId"], server.heard("tools/call")[0]["id"]);
    // Its answer comes now, and is nobody's.
    server.is_well().await;
    assert_eq!(server.status().starts, 1);
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ignores_a_cancellation_holds_nobody_up() {
    let server = Hostile::start(&[]).await;
    let calls = vec![call("a", "sleep", json!({"ms": 60_000})), call("b", "echo", json!({}))];
    let mut handle = server.registry.start(ToolBatch::new(calls)).await.unwrap();
    server.wait_heard("tools/call", 2).await;
    let begun = Instant::now();
    handle.cancel_call(&"a".into());
    let outcome = handle.wait().await.unwrap();
    assert_eq!(statuses(&outcome), [CallStatus::Cancelled, CallStatus::Ok]);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    server.is_well().await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_one_server_run_at_once() {
    let server = Hostile::start(&[]).await;
    let begun = Instant::now();
    let calls = (0..5).map(|n| call(&format!("c{n}"), "sleep", json!({"ms": 500}))).collect();
    let outcome = server.run(calls).await;
    assert_eq!(statuses(&outcome), [CallStatus::Ok; 5]);
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_passed_on_and_extends_the_idle_limit() {
    let patient = |config: &mut toolyard_providers::McpConfig| config.options.idle_timeout_ms = Some(1500);
    let server = Hostile::launch(&[], patient, |_settings| {}).await;
    server.registry.wait_started(super::START).await;
    let calls = vec![call("a", "progress", json!({"steps": 6, "ms": 400})), call("b", "never", json!({}))];
    let mut handle = server.registry.start(ToolBatch::new(calls)).await.unwrap();
    let mut reports = Vec::new();
    while let Some(event) = handle.events().next().await {
        if let BatchEvent::CallProgress { index, progress: Progress { done, .. } } = event {
            reports.push((index, done));
        }
    }
    assert_eq!(reports, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|done| (0, done)));
    let outcome = handle.wait().await.unwrap();
    assert_eq!(statuses(&outcome), [CallStatus::Ok, CallStatus::Timeout], "{outcome:#?}");
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_reads_nothing_hoards_no_arguments_and_comes_to_itself() {
    let server = Hostile::start(&[]).await;
    let large = "x".repeat(1_000_000);
    let mut calls = vec![call("deaf", "deaf", json!({"ms": 3000}))];
    calls.extend((0..12).map(|n| call(&format!("c{n}"), "echo", json!({"text": large}))));
    let batch = ToolBatch::new(calls).with_deadline(Duration::from_millis(1500));
    let outcome = server.registry.dispatch(batch).await;
    assert!(statuses(&outcome).iter().all(|status| *status == CallStatus::Timeout), "{:?}", statuses(&outcome));
    server.is_well().await;
    let sent = server.heard("tools/call").len();
    assert!(sent <= 4, "{sent} calls reached it: what nobody waited for was to be taken out");
    server.close().await;
}

//! One call at a time: waiting, leaving, and what a call that is given up costs.

use tokio::time::Instant;

use toolyard::Executed;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_wait_for_their_turn_and_a_late_one_never_reaches_the_plugin() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    let slow = batch(&[("sleep", json!({"seconds": 1})), ("echo", json!({"text": "next"})), ("pid", json!({}))]);
    let mut slow = host.registry.start(slow).await.unwrap();
    wait_until("the calls are in flight", SOON, || host.status().in_flight == 3).await;
    let hasty = batch(&[("echo", json!({"text": "hasty"}))]).with_deadline(Duration::from_millis(200));
    let began = Instant::now();
    let hasty = first(host.registry.dispatch(hasty).await);
    assert_eq!((hasty.status, hasty.executed), (CallStatus::Timeout, Executed::No), "{hasty:#?}");
    assert!(began.elapsed() < Duration::from_millis(900), "it waited for the call before it");
    let slow = slow.wait().await.unwrap();
    let texts: Vec<String> = slow.results.iter().map(CallResult::history_content).collect();
    assert_eq!(texts, ["slept", "echo: next", &before], "the process is the same all the time");
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_out_of_time_costs_the_process_and_the_waiting_calls_go_to_the_next() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    let stuck = batch(&[("sleep", json!({}))]).with_deadline(Duration::from_millis(400));
    let mut stuck = host.registry.start(stuck).await.unwrap();
    wait_until("the call is in flight", SOON, || host.status().in_flight == 1).await;
    let waiting = host.call("pid", json!({})).await;
    assert_eq!(waiting.status, CallStatus::Ok, "{waiting:#?}");
    assert_ne!(waiting.history_content(), before);
    let stuck = first(stuck.wait().await.unwrap());
    assert_eq!((stuck.status, stuck.executed), (CallStatus::Timeout, Executed::Unknown), "{stuck:#?}");
    assert!(!is_alive(&before));
    assert_eq!((host.status().starts, host.status().tools), (1, 19));
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_call_is_dropped_from_the_line_or_ends_the_process() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    let calls = batch(&[("sleep", json!({"seconds": 30})), ("sleep", json!({"seconds": 30})), ("pid", json!({}))]);
    let mut running = host.registry.start(calls).await.unwrap();
    wait_until("the calls are in flight", SOON, || host.status().in_flight == 3).await;
    running.cancel_call(&"c1".into());
    running.cancel_call(&"c0".into());
    let began = Instant::now();
    let outcome = running.wait().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let codes: Vec<_> = outcome.results.iter().map(code).collect();
    assert_eq!(codes, [Some(ErrorCode::CancelledCall), Some(ErrorCode::CancelledCall), None]);
    assert_ne!(outcome.results[2].history_content(), before);
    let pids = std::fs::read_to_string(host.folder.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2, "one process was lost, not two");
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_is_too_long_for_a_line_is_refused_and_costs_nothing() {
    let host = Host::start_with(PLAIN, |config| config.max_line_bytes = 8_000).await;
    let before = host.pid().await;
    let long = host.call("echo", json!({"text": "x".repeat(9_000)})).await;
    assert_eq!((code(&long), long.executed), (Some(ErrorCode::ArgumentsTooLarge), Executed::No));
    assert_eq!(host.pid().await, before);
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn closing_in_mid_call_ends_the_call_and_the_process() {
    let host = Host::start_with(PLAIN, |config| config.deactivate_grace_ms = 200).await;
    let pid = host.pid().await;
    let mut running = host.registry.start(batch(&[("sleep", json!({}))])).await.unwrap();
    wait_until("the call is in flight", SOON, || host.status().in_flight == 1).await;
    host.registry.close(Duration::from_millis(100)).await;
    let outcome = running.wait().await.unwrap();
    assert_ne!(outcome.results[0].status, CallStatus::Ok);
    wait_until("the process is gone", SOON, || !is_alive(&pid)).await;
}

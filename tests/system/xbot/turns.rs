//! One call at a time: waiting, leaving, and what a call that is given up costs.

use toolyard::Executed;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_wait_for_their_turn_and_a_late_one_never_reaches_the_plugin() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    let calls = batch(&[("hold", json!({})), ("echo", json!({"text": "next"})), ("pid", json!({}))]);
    let mut slow = host.registry.start(calls).await.unwrap();
    host.holds(3).await;
    let hasty = batch(&[("echo", json!({"text": "hasty"}))]).with_deadline(Duration::from_millis(200));
    let hasty = first(in_time("its deadline", host.registry.dispatch(hasty)).await);
    assert_eq!((hasty.status, hasty.executed), (CallStatus::Timeout, Executed::No), "{hasty:#?}");
    host.open();
    let slow = in_time("the outcome", slow.wait()).await.unwrap();
    let texts: Vec<String> = slow.results.iter().map(CallResult::history_content).collect();
    assert_eq!(texts, ["let go", "echo: next", &before], "the process is the same all the time");
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_out_of_time_costs_the_process_and_the_waiting_calls_go_to_the_next() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    // On a busy machine its time may be over before it is sent: it is given more then.
    let mut limit = Duration::from_millis(400);
    let (stuck, waiting) = loop {
        let calls = batch(&[("hold", json!({}))]).with_deadline(limit);
        let mut running = host.registry.start(calls).await.unwrap();
        let stuck = tokio::spawn(async move { running.wait().await.unwrap() });
        until("the plugin runs it", async || stuck.is_finished() || host.folder.path().join("held").exists()).await;
        let waiting = host.call("pid", json!({})).await;
        let stuck = first(in_time("its deadline", stuck).await.unwrap());
        if stuck.executed != Executed::No {
            break (stuck, waiting);
        }
        limit *= 4;
    };
    assert_eq!(waiting.status, CallStatus::Ok, "{waiting:#?}");
    assert_ne!(waiting.history_content(), before);
    assert_eq!((stuck.status, stuck.executed), (CallStatus::Timeout, Executed::Unknown), "{stuck:#?}");
    assert!(!is_alive(&before));
    assert_eq!((host.status().starts, host.status().tools), (1, 19));
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_call_is_dropped_from_the_line_or_ends_the_process() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    let calls = batch(&[("hold", json!({})), ("hold", json!({})), ("pid", json!({}))]);
    let mut running = host.registry.start(calls).await.unwrap();
    host.holds(3).await;
    running.cancel_call(&"c1".into());
    running.cancel_call(&"c0".into());
    let outcome = in_time("the outcome", running.wait()).await.unwrap();
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
    let mut running = host.registry.start(batch(&[("hold", json!({}))])).await.unwrap();
    host.holds(1).await;
    in_time("the end", host.registry.close(Duration::from_millis(100))).await;
    let outcome = in_time("the outcome", running.wait()).await.unwrap();
    assert_ne!(outcome.results[0].status, CallStatus::Ok);
    until("the process is gone", async || !is_alive(&pid)).await;
}

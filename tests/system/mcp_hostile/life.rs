//! Death in the middle of things, and what comes after.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolyard::{Breaker, CallStatus, ErrorCode, Executed, ProviderState, ToolBatch, ToolExecutionContext};
use toolyard_tests::{Process, children_of, wait_until};

use super::{Hostile, START, call, statuses};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_mid_call_fails_all_its_calls_at_once_and_comes_back() {
    let server = Hostile::start(&[]).await;
    let calls =
        vec![call("a", "never", json!({})), call("b", "sleep", json!({"ms": 60_000})), call("c", "exit", json!({}))];
    // One of them would take a minute, and another has no end.
    let outcome = server.run(calls).await;
    assert_eq!(statuses(&outcome), [CallStatus::Unavailable; 3], "{outcome:#?}");
    for result in &outcome.results {
        let error = result.error.as_ref().unwrap();
        assert_eq!(error.code, ErrorCode::ProviderCrashed);
        assert!(error.message.contains("exit status: 3") && error.message.contains("out of luck"), "{}", error.message);
        assert!(!error.message.contains("s3cret"), "{}", error.message);
        assert_eq!(result.executed, Executed::Unknown);
    }
    wait_until("it is back", START, || server.status().starts == 2).await;
    server.is_well().await;
    let exits = server.heard("tools/call").iter().filter(|call| call["params"]["name"] == "exit").count();
    assert_eq!(exits, 1, "the dead call is not sent again");
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_process_of_one_tenant_that_dies_again_and_again_shuts_no_door_for_others() {
    let server = Hostile::launch(&[], |_config| {}, |settings| settings.breaker = Some(Breaker::default())).await;
    server.registry.wait_started(START).await;
    let run = async |tenant: &str, tool: &str| {
        let context = ToolExecutionContext { tenant: tenant.to_owned(), ..ToolExecutionContext::default() };
        let batch = ToolBatch::new(vec![call("c", tool, json!({}))]).with_context(Arc::new(context));
        tokio::time::timeout(super::PATIENCE, server.registry.dispatch(batch)).await.unwrap().results.remove(0)
    };
    for _ in 0..5 {
        let result = run("one", "exit").await;
        assert_eq!((result.status, result.executed), (CallStatus::Unavailable, Executed::Unknown));
        let message = result.error.unwrap().message;
        assert!(message.contains("exit status: 3"), "{message}");
    }
    assert_eq!(run("two", "echo").await.status, CallStatus::Ok);
    assert_eq!((server.status().state, server.status().starts), (ProviderState::Up, 1));
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_start_asks_no_more_which_era_is_spoken() {
    let server = Hostile::start(&[]).await;
    assert_eq!(server.heard("server/discover").len(), 1);
    server.run(vec![call("a", "exit", json!({}))]).await;
    wait_until("it is back", START, || server.status().starts == 2).await;
    server.is_well().await;
    assert_eq!((server.heard("server/discover").len(), server.heard("initialize").len()), (1, 2));
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_cancelled_calls_leave_the_server_usable_and_each_is_told_once() {
    let server = Hostile::start(&[]).await;
    for round in 0..100 {
        let calls = (0..100).map(|n| call(&format!("c{n}"), "never", json!({}))).collect();
        let mut handle = server.registry.start(ToolBatch::new(calls)).await.unwrap();
        wait_until("all are in flight", super::PATIENCE, || server.status().in_flight >= 100).await;
        handle.cancel();
        let outcome = handle.wait().await.unwrap();
        assert!(statuses(&outcome).iter().all(|status| *status == CallStatus::Cancelled), "{round}");
    }
    server.is_well().await;
    let sent = server.heard("tools/call").len() - 1;
    let told = server.wait_heard("notifications/cancelled", sent).await;
    assert_eq!(told.len(), sent, "those that went out were cancelled, once each");
    wait_until("every place is given back", Duration::from_secs(5), || server.status().in_flight == 0).await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_a_server_that_is_closed() {
    let server = Hostile::start(&[]).await;
    let path = super::text(server.heard.path());
    let running = || -> Vec<Process> {
        children_of(std::process::id()).into_iter().filter(|child| child.command_line.contains(&path)).collect()
    };
    assert_eq!(running().len(), 1);
    server.registry.close(Duration::from_secs(5)).await;
    wait_until("it is gone", Duration::from_secs(5), || running().is_empty()).await;
}

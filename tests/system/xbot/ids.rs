//! Plugins with request ids: many calls at once, and each fault is its own call's.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_calls_run_at_once() {
    let host = Host::start(BY_ID).await;
    // None of them ends before all of them have begun.
    let calls: Vec<(&str, Value)> = (0..20).map(|_| ("meet", json!({}))).collect();
    let outcome = in_time("the outcome", host.registry.dispatch(batch(&calls))).await;
    assert!(outcome.results.iter().all(|result| result.status == CallStatus::Ok), "{outcome:#?}");
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_is_given_up_is_cancelled_and_its_late_answer_is_dropped() {
    let host = Host::start(BY_ID).await;
    let before = host.pid().await;
    let mut late = host.registry.start(batch(&[("hold", json!({}))])).await.unwrap();
    host.holds(1).await;
    late.cancel_call(&"c0".into());
    let late = first(in_time("the outcome", late.wait()).await.unwrap());
    assert_eq!((late.status, late.executed), (CallStatus::Cancelled, toolyard::Executed::Unknown), "{late:#?}");
    let cancelled = host.folder.path().join("cancelled");
    until("the plugin is told", async || std::fs::read_to_string(&cancelled).is_ok_and(|text| text == "2\n")).await;
    host.open();
    until("the late answer", async || host.folder.path().join("answered").exists()).await;
    // Comes behind it on the same pipe.
    assert_eq!(host.call("pid", json!({})).await.history_content(), before);
    assert_eq!(std::fs::read_to_string(cancelled).unwrap(), "2\n", "the plugin was told of the second call alone");
    assert_eq!(host.status().starts, 1);
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_broken_answer_fails_the_call_that_its_id_names() {
    let host = Host::start(BY_ID).await;
    let before = host.pid().await;
    let mut running = host.registry.start(batch(&[("hold", json!({}))])).await.unwrap();
    host.holds(1).await;
    let nan = host.call("nan", json!({})).await;
    host.open();
    let outcome = in_time("the outcome", running.wait()).await.unwrap();
    assert_eq!(outcome.results[0].history_content(), before);
    assert_eq!(code(&nan), Some(ErrorCode::ProviderProtocol), "{nan:#?}");
    let idless = host.call("idless", json!({})).await;
    assert!(message(&idless).contains("no `id`"), "{idless:#?}");
    assert_eq!(host.pid().await, before);
    host.close().await;
}

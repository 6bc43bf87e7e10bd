//! Plugins with request ids: many calls at once, and each fault is its own call's.

use tokio::time::Instant;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_calls_run_at_once() {
    let host = Host::start(BY_ID).await;
    let calls: Vec<(&str, Value)> = (0..20).map(|_| ("pid", json!({"seconds": 0.5}))).collect();
    let began = Instant::now();
    let outcome = host.registry.dispatch(batch(&calls)).await;
    assert!(outcome.results.iter().all(|result| result.status == CallStatus::Ok), "{outcome:#?}");
    assert!(began.elapsed() < SOON, "{:?}, one after the other takes 10 s", began.elapsed());
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_is_given_up_is_cancelled_and_its_late_answer_is_dropped() {
    let host = Host::start(BY_ID).await;
    let before = host.pid().await;
    let late = batch(&[("pid", json!({"seconds": 0.6}))]).with_deadline(Duration::from_millis(150));
    assert_eq!(first(host.registry.dispatch(late).await).status, CallStatus::Timeout);
    // Outlives the late answer.
    assert_eq!(host.call("pid", json!({"seconds": 1})).await.history_content(), before);
    let cancelled = std::fs::read_to_string(host.folder.path().join("cancelled")).unwrap();
    assert_eq!(cancelled, "2\n", "the plugin was told of the second call alone");
    assert_eq!(host.status().starts, 1);
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_broken_answer_fails_the_call_that_its_id_names() {
    let host = Host::start(BY_ID).await;
    let before = host.pid().await;
    let outcome = host.registry.dispatch(batch(&[("pid", json!({"seconds": 0.3})), ("nan", json!({}))])).await;
    assert_eq!(outcome.results[0].history_content(), before);
    assert_eq!(code(&outcome.results[1]), Some(ErrorCode::ProviderProtocol), "{outcome:#?}");
    let idless = host.call("idless", json!({})).await;
    assert!(message(&idless).contains("no `id`"), "{idless:#?}");
    assert_eq!(host.pid().await, before);
    host.close().await;
}

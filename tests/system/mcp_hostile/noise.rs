//! What is no message, and too many of those that are.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::CallStatus;

use super::{Hostile, call, statuses};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stray_lines_in_any_encoding_are_skipped() {
    let server = Hostile::start(&["--greeting"]).await;
    let outcome = server.run(vec![call("a", "noise", json!({}))]).await;
    assert_eq!(outcome.results[0].history_content(), "after the noise", "{outcome:#?}");
    server.is_well().await;
    assert_eq!(server.status().starts, 1);
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_notifications_and_requests_is_survived() {
    let server = Hostile::start(&[]).await;
    let begun = Instant::now();
    let outcome = server.run(vec![call("a", "flood", json!({"count": 5_000}))]).await;
    assert_eq!(outcome.results[0].history_content(), "after the flood", "{outcome:#?}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    server.is_well().await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_mebibytes_of_standard_error_come_before_the_first_answer() {
    let server = Hostile::start(&["--stderr-mib", "20"]).await;
    server.is_well().await;
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_closes_its_output_is_ended_and_comes_back() {
    let server = Hostile::start(&[]).await;
    let outcome = server.run(vec![call("a", "close", json!({}))]).await;
    assert_eq!(statuses(&outcome), [CallStatus::Unavailable], "{outcome:#?}");
    toolyard_tests::wait_until("it is back", super::START, || server.status().starts == 2).await;
    server.is_well().await;
    server.close().await;
}

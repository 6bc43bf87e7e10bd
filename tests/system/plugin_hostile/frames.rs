//! What a plugin writes to its runner's connection itself.

use std::time::Duration;

use serde_json::json;
use toolyard::{CallStatus, ErrorCode};

use crate::plugin_fleet::{Fleet, QUIET, gone};

#[tokio::test(flavor = "multi_thread")]
async fn broken_frames_end_their_own_process() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let kinds = ["length", "large", "garbage", "array", "empty", "type", "field", "hello", "deep", "close"];
    for (starts, kind) in (2..).zip(kinds) {
        let pid = fleet.pid("bad").await;
        let result = fleet.call_for("bad", "frame", json!(kind), Duration::from_secs(20)).await;
        let code = result.error.as_ref().map(|error| error.code);
        assert_eq!(code, Some(ErrorCode::ProviderCrashed), "{kind}: {result:?}");
        fleet.neighbours_answer().await;
        fleet.answers("bad", starts).await;
        gone(pid).await;
    }
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_out_of_step_ends_its_own_process() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    let quick = |tuning: &mut crate::plugin_fleet::Tuning| {
        (tuning.runner.health_interval_ms, tuning.runner.health_timeout_ms) = (200, 1000);
    };
    fleet.up("bad", json!({}), quick).await;
    let result = fleet.call_for("bad", "frame", json!("shifted"), Duration::from_secs(20)).await;
    assert_eq!(result.error.as_ref().map(|error| error.code), Some(ErrorCode::ProviderCrashed), "{result:?}");
    fleet.neighbours_answer().await;
    fleet.answers("bad", 2).await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_answers_reach_the_plugins_own_calls_only() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let (theirs, own, _forger) =
        tokio::join!(fleet.call("good", "slow", json!(2)), fleet.call("bad", "slow", json!(3)), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            fleet.call_for("bad", "forge", json!(null), Duration::from_secs(5)).await
        });
    assert_eq!(crate::plugin_fleet::given(&theirs), json!("slept"));
    assert_eq!(crate::plugin_fleet::given(&own), json!("forged"), "nobody can tell them apart");
    fleet.neighbours_answer().await;
    let later = fleet.call("bad", "answer", json!("own")).await;
    assert_eq!(later.status, CallStatus::Ok);
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_reads_nothing_is_started_again_and_its_calls_end_in_time() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    fleet
        .up("bad", json!({}), |tuning| {
            (tuning.runner.health_interval_ms, tuning.runner.health_timeout_ms) = (500, 4000);
        })
        .await;
    let limit = Duration::from_secs(1);
    let deaf = async { fleet.call_for("bad", "deaf", json!(null), limit).await.status };
    assert_eq!(deaf.await, CallStatus::Timeout);
    let many = (0..40).map(|_| fleet.call_for("bad", "answer", json!("x".repeat(50_000)), limit));
    for result in futures::future::join_all(many).await {
        assert!(matches!(result.status, CallStatus::Timeout | CallStatus::Unavailable), "{result:?}");
    }
    fleet.neighbours_answer().await;
    fleet.answers("bad", 2).await;
    fleet.close().await;
}

//! What a plugin writes to its runner's connection itself.

use std::time::Duration;

use serde_json::json;
use toolyard::{CallStatus, ErrorCode};

use crate::plugin_fleet::{Fleet, Gate, given, gone};

#[tokio::test(flavor = "multi_thread")]
async fn broken_frames_end_their_own_process() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let kinds = ["length", "large", "garbage", "array", "empty", "type", "field", "hello", "deep", "close"];
    for (starts, kind) in (2..).zip(kinds) {
        let pid = fleet.pid("bad").await;
        let result = fleet.call("bad", "frame", json!(kind)).await;
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
    let fleet = Fleet::start().await;
    let quick = |tuning: &mut crate::plugin_fleet::Tuning| {
        (tuning.runner.health_interval_ms, tuning.runner.health_timeout_ms) = (200, 5000);
    };
    fleet.up("bad", json!({}), quick).await;
    let pid = fleet.pid("bad").await;
    let result = fleet.call("bad", "frame", json!("shifted")).await;
    assert_eq!(result.error.as_ref().map(|error| error.code), Some(ErrorCode::ProviderCrashed), "{result:?}");
    fleet.neighbours_answer().await;
    fleet.answers_from_another_process("bad", pid).await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_answers_reach_the_plugins_own_calls_only() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let (of_good, of_bad) = (Gate::new(), Gate::new());
    let (theirs, own, ()) = tokio::join!(
        fleet.call("good", "hold", of_good.value()),
        async {
            let own = fleet.call("bad", "hold", of_bad.value()).await;
            of_good.open();
            own
        },
        async {
            of_good.holds().await;
            of_bad.holds().await;
            fleet.call("bad", "forge", json!(null)).await;
        }
    );
    assert_eq!(given(&theirs), json!("let go"));
    assert_eq!(given(&own), json!("forged"), "nobody can tell them apart");
    fleet.neighbours_answer().await;
    let later = fleet.call("bad", "answer", json!("own")).await;
    assert_eq!(later.status, CallStatus::Ok);
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_plugin_that_reads_nothing_end_in_time() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let gate = Gate::new();
    let (deaf, others) = tokio::join!(fleet.call("bad", "deaf", gate.value()), async {
        gate.holds().await;
        let limit = Duration::from_secs(1);
        let many = (0..40).map(|_| fleet.call_for("bad", "answer", json!("x".repeat(50_000)), limit));
        let others = futures::future::join_all(many).await;
        fleet.neighbours_answer().await;
        gate.open();
        others
    });
    for result in others {
        assert_eq!(result.status, CallStatus::Timeout, "{result:?}");
    }
    assert_eq!(given(&deaf), json!("let go"), "it still speaks");
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_reads_nothing_is_started_again() {
    let fleet = Fleet::start().await;
    fleet
        .up("bad", json!({}), |tuning| {
            (tuning.runner.health_interval_ms, tuning.runner.health_timeout_ms) = (200, 5000);
        })
        .await;
    let pid = fleet.pid("bad").await;
    let result = fleet.call("bad", "deaf", Gate::new().value()).await;
    assert_eq!(result.error.as_ref().map(|error| error.code), Some(ErrorCode::ProviderCrashed), "{result:?}");
    fleet.neighbours_answer().await;
    fleet.answers_from_another_process("bad", pid).await;
    fleet.close().await;
}

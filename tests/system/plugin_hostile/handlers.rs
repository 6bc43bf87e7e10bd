//! Handlers that block, that cannot be cancelled, that ask too much.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::{CallStatus, ErrorCode};

use crate::plugin_fleet::{Fleet, QUIET, given, gone};
use crate::plugin_maibot::until;

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_blocks_the_loop_is_found_by_the_health_check() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    fleet
        .up("bad", json!({}), |tuning| {
            (tuning.runner.health_interval_ms, tuning.runner.health_timeout_ms) = (300, 2000);
        })
        .await;
    let pid = fleet.pid("bad").await;
    let result = fleet.call_for("bad", "block", json!(null), Duration::from_secs(30)).await;
    assert_eq!(result.error.as_ref().map(|error| error.code), Some(ErrorCode::ProviderCrashed), "{result:?}");
    fleet.neighbours_answer().await;
    fleet.answers("bad", 2).await;
    gone(pid).await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_ignores_its_cancellation_costs_a_reload_and_no_other_call() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    fleet
        .up("bad", json!({}), |tuning| {
            tuning.runner.cancel_grace_ms = 300;
            tuning.settings.drain = Duration::from_secs(15);
        })
        .await;
    let pid = fleet.pid("bad").await;
    let (stuck, other, ()) = tokio::join!(
        fleet.call_for("bad", "stubborn", json!(null), Duration::from_millis(300)),
        fleet.call("bad", "slow", json!(6)),
        fleet.answers_from_another_process("bad", pid),
    );
    assert_eq!(stuck.status, CallStatus::Timeout);
    assert_eq!(given(&other), json!("slept"), "it finished on the old process");
    gone(pid).await;
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_requests_are_refused_one_by_one() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |tuning| tuning.runner.max_requests = 8).await;
    let kinds = fleet.value("bad", "ask", json!([100, "slow"])).await;
    assert_eq!(kinds, json!({"True": 8, "E_BACK_PRESSURE": 92}));
    assert_eq!(fleet.value("bad", "ask", json!([5, "quick"])).await, json!({"True": 5}));
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_never_answered_ends_with_its_call() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let began = Instant::now();
    let result = fleet.call_for("bad", "ask", json!([3, "never"]), Duration::from_secs(1)).await;
    assert!(matches!(result.status, CallStatus::Timeout | CallStatus::Ok), "{result:?}");
    assert!(began.elapsed() < Duration::from_secs(3));
    until("nothing pending", async || fleet.value("bad", "pending", json!(null)).await == json!(0)).await;
    fleet.answers("bad", 1).await;
    fleet.neighbours_answer().await;
    fleet.close().await;
}

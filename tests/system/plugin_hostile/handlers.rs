//! Handlers that block, that cannot be cancelled, that ask too much.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolyard::{CallStatus, ErrorCode};
use toolyard_tests::{HANG, until};

use crate::plugin_fleet::{Fleet, Gate, Tuning, batch, given, gone};

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_blocks_the_loop_is_found_by_the_health_check() {
    let fleet = Fleet::start().await;
    fleet
        .up("bad", json!({}), |tuning| {
            (tuning.runner.health_interval_ms, tuning.runner.health_timeout_ms) = (200, 5000);
        })
        .await;
    let pid = fleet.pid("bad").await;
    let result = fleet.call("bad", "block", json!(null)).await;
    assert_eq!(result.error.as_ref().map(|error| error.code), Some(ErrorCode::ProviderCrashed), "{result:?}");
    fleet.neighbours_answer().await;
    fleet.answers_from_another_process("bad", pid).await;
    gone(pid).await;
    fleet.close().await;
}

/// Gives a call up that goes on in its handler, and waits for the process that comes in spite of it.
async fn give_up_a_stubborn_call(fleet: &Fleet, name: &str, gate: &Gate) {
    let (pid, cancel) = (fleet.pid(name).await, CancellationToken::new());
    let stubborn = batch(name, "stubborn", gate.value(), None).with_cancel(cancel.clone());
    let (stuck, ()) = tokio::join!(fleet.registry.dispatch(stubborn), async {
        gate.holds().await;
        cancel.cancel();
    });
    assert_eq!(stuck.results[0].status, CallStatus::Cancelled);
    fleet.answers_from_another_process(name, pid).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_ignores_its_cancellation_costs_a_reload_and_no_other_call() {
    let fleet = Fleet::start().await;
    let drain = |drain: Duration| {
        move |tuning: &mut Tuning| {
            tuning.runner.cancel_grace_ms = 300;
            tuning.settings.drain = drain;
        }
    };
    fleet.up("bad", json!({}), drain(20 * HANG)).await;
    let (pid, stubborn, later) = (fleet.pid("bad").await, Gate::new(), Gate::new());
    let (other, ()) = tokio::join!(fleet.call("bad", "hold", later.value()), async {
        later.holds().await;
        give_up_a_stubborn_call(&fleet, "bad", &stubborn).await;
        later.open();
    });
    assert_eq!(given(&other), json!("let go"), "it finished on the old process");
    stubborn.open();
    gone(pid).await;

    fleet.up("worse", json!({}), drain(Duration::from_secs(1))).await;
    let (pid, for_ever) = (fleet.pid("worse").await, Gate::new());
    give_up_a_stubborn_call(&fleet, "worse", &for_ever).await;
    gone(pid).await;
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_requests_are_refused_one_by_one() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |tuning| tuning.runner.max_requests = 8).await;
    let (kinds, ()) = tokio::join!(fleet.value("bad", "ask", json!([100, "later"])), async {
        until("the others are refused", async || fleet.value("bad", "heard", json!(null)).await == json!(92)).await;
        fleet.bot.is_let.send_replace(true);
    });
    assert_eq!(kinds, json!({"True": 8, "E_BACK_PRESSURE": 92}));
    assert_eq!(fleet.value("bad", "ask", json!([5, "quick"])).await, json!({"True": 5}));
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_never_answered_ends_with_its_call() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let result = fleet.call_for("bad", "ask", json!([3, "never"]), Duration::from_secs(3)).await;
    assert!(matches!(result.status, CallStatus::Timeout | CallStatus::Ok), "{result:?}");
    until("nothing pending", async || fleet.value("bad", "pending", json!(null)).await == json!(0)).await;
    fleet.answers("bad", 1).await;
    fleet.neighbours_answer().await;
    fleet.close().await;
}

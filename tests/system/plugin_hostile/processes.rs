//! Too many processes, too much memory, processes that want to outlive their plugin.

use serde_json::json;
use toolyard::CallStatus;
use toolyard_providers::ProcessLimits;
use toolyard_tests::{HANG, until};

use crate::plugin_fleet::{Fleet, Tuning, gone, is_alive, processes_in};

fn limited(limits: ProcessLimits) -> impl FnOnce(&mut Tuning) {
    move |tuning| tuning.runner.limits = Some(limits)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_bomb_is_bounded_and_leaves_nothing() {
    let fleet = Fleet::start().await;
    let limits = ProcessLimits { processes: Some(60), ..ProcessLimits::default() };
    let folder = fleet.up("bad", json!({}), limited(limits)).await;
    let made = fleet.value("bad", "forks", json!(500)).await;
    let made = made.as_u64().unwrap();
    assert!((1..=60).contains(&made), "{made} were made");
    assert!(processes_in(&folder).len() > 1);
    fleet.neighbours_answer().await;
    fleet.registry.unregister("bad").await.unwrap();
    until("the end of all forks", async || processes_in(&folder).is_empty()).await;
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_takes_too_much_memory_is_stopped_and_hears_why() {
    let fleet = Fleet::start().await;
    let limits = ProcessLimits { memory_bytes: Some(300 << 20), ..ProcessLimits::default() };
    // The next start is far off, so that the reason stands.
    let tune = |tuning: &mut Tuning| {
        limited(limits)(tuning);
        (tuning.settings.backoff.first, tuning.settings.backoff.max) = (20 * HANG, 20 * HANG);
    };
    fleet.up("bad", json!({}), tune).await;
    let result = fleet.call("bad", "memory", json!(600)).await;
    assert_ne!(result.status, CallStatus::Ok, "{result:?}");
    fleet.neighbours_answer().await;
    if result.status == CallStatus::ToolError {
        // Without a memory cgroup it is refused, and goes on.
        assert!(result.history_content().contains("MemoryError"), "{}", result.history_content());
    } else {
        until("the reason", async || {
            fleet
                .status("bad")
                .reason
                .is_some_and(|reason| reason.contains("ran out of memory at its limit of 300 MiB"))
        })
        .await;
        fleet.registry.reload("bad").await.unwrap();
        fleet.answers("bad", 2).await;
    }
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn grandchildren_end_with_their_plugin() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let grandchild: i32 = fleet.value("bad", "grandchild", json!(null)).await.as_i64().unwrap().try_into().unwrap();
    assert!(is_alive(grandchild));
    fleet.registry.unregister("bad").await.unwrap();
    gone(grandchild).await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_seen_though_another_process_holds_the_connection() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    let twin: i32 = fleet.value("bad", "twin", json!(null)).await.as_i64().unwrap().try_into().unwrap();
    let result = fleet.call("bad", "kill", json!(null)).await;
    assert_eq!(result.status, CallStatus::Unavailable, "{result:?}");
    gone(twin).await;
    fleet.answers("bad", 2).await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_ends_its_process_costs_its_own_plugin_a_start() {
    let fleet = Fleet::start().await;
    fleet.up("bad", json!({}), |_tuning| {}).await;
    for (starts, deed) in (2..).zip(["leave", "kill"]) {
        let result = fleet.call("bad", deed, json!(null)).await;
        assert_eq!(result.status, CallStatus::Unavailable, "{result:?}");
        fleet.neighbours_answer().await;
        fleet.answers("bad", starts).await;
    }
    fleet.close().await;
}

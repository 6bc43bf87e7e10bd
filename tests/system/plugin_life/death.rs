//! A process that is killed, and one that goes on dying.

use serde_json::json;
use toolyard::{Breaker, CallStatus, ErrorCode, Executed, ProviderState};
use toolyard_tests::{HANG, Process, until};

use crate::plugin_fleet::{Fleet, Gate, given};

const ROUNDS: u32 = 3;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_fails_its_calls_at_once_and_is_back_soon() {
    let fleet = Fleet::start().await;
    // Nothing else would end its calls within this test: neither a deadline, nor a health check. Each round is a first
    // crash: nothing is waited for longer on account of those before.
    let tune = |tuning: &mut crate::plugin_fleet::Tuning| {
        tuning.settings.backoff.max = tuning.settings.backoff.first;
        tuning.runner.health_interval_ms = (20 * HANG).as_millis().try_into().unwrap();
    };
    fleet.up("p", json!({}), tune).await;
    for round in 1..=ROUNDS {
        let (pid, gate) = (fleet.pid("p").await, Gate::new());
        let calls = futures::future::join_all((0..8).map(|_| fleet.call("p", "slow", json!(3600))));
        let crash = async {
            gate.holds().await;
            until("8 calls in flight", async || fleet.status("p").in_flight == 8).await;
            Process { pid, command_line: String::new() }.kill();
            until("the plugin", async || fleet.call("p", "pid", json!(0)).await.status == CallStatus::Ok).await;
            gate.open();
        };
        let (results, theirs, ()) = tokio::join!(calls, fleet.call("good", "hold", gate.value()), crash);
        assert_eq!(given(&theirs), json!("let go"), "a call of another plugin goes on");
        for result in &results {
            let code = result.error.as_ref().map(|error| error.code);
            assert_eq!((code, result.executed), (Some(ErrorCode::ProviderCrashed), Executed::Unknown), "{result:?}");
        }
        assert_eq!((fleet.status("p").starts, fleet.status("good").starts), (round + 1, 1));
        fleet.neighbours_answer().await;
    }
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_goes_on_dying_is_left_alone_and_says_so() {
    let fleet = Fleet::start().await;
    let breaker = Breaker { failures: 2, open: 20 * HANG, max_open: 20 * HANG, ..Breaker::default() };
    fleet.up("p", json!({}), |tuning| tuning.settings.breaker = Some(breaker)).await;
    for starts in 2..=3 {
        assert_eq!(fleet.call("p", "kill", json!(null)).await.status, CallStatus::Unavailable);
        until("the next process", async || fleet.status("p").starts == starts).await;
    }
    until("the breaker", async || fleet.status("p").state == ProviderState::BreakerOpen).await;
    let reason = fleet.status("p").reason.unwrap();
    assert!(reason.contains("signal: 9"), "{reason}");
    let refused = fleet.call("p", "answer", json!(1)).await;
    assert_eq!((refused.status, refused.executed), (CallStatus::Unavailable, Executed::No));
    fleet.neighbours_answer().await;
    fleet.registry.reload("p").await.unwrap();
    assert_eq!(fleet.value("p", "answer", json!(1)).await, json!(1));
    assert_eq!(fleet.status("p").state, ProviderState::Up);
    fleet.close().await;
}

//! A process that is killed, and one that goes on dying.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::{Breaker, CallStatus, Executed, ProviderState};
use toolyard_tests::Process;

use crate::plugin_fleet::{Fleet, QUIET, given};
use crate::plugin_maibot::until;

/// A crash fails calls within this time.
const FAILED: Duration = Duration::from_millis(100);
/// And the plugin is back within this.
const BACK: Duration = Duration::from_secs(2);
/// What else this machine does may hold a round up; most of them must keep the bounds.
const ROUNDS: u32 = 5;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_fails_its_calls_at_once_and_is_back_soon() {
    let _alone = QUIET.write().await;
    let fleet = Fleet::start().await;
    // Each round is a first crash: nothing is waited for longer on account of those before.
    fleet.up("p", json!({}), |tuning| tuning.settings.backoff.max = tuning.settings.backoff.first).await;
    let (mut failed, mut back) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let pid = fleet.pid("p").await;
        let theirs = fleet.call("good", "slow", json!(1));
        let calls = futures::future::join_all((0..8).map(|_| async {
            let result = fleet.call("p", "slow", json!(3600)).await;
            (result, Instant::now())
        }));
        let killed = async {
            until("8 calls in flight", async || fleet.status("p").in_flight == 8).await;
            Process { pid, command_line: String::new() }.kill();
            Instant::now()
        };
        let ((results, killed, returned), theirs) = tokio::join!(
            async {
                let back = async {
                    let killed = killed.await;
                    until("the plugin", async || fleet.call("p", "pid", json!(0)).await.status == CallStatus::Ok).await;
                    (killed, Instant::now())
                };
                let (results, (killed, returned)) = tokio::join!(calls, back);
                (results, killed, returned)
            },
            theirs
        );
        assert_eq!(given(&theirs), json!("slept"));
        for (result, _at) in &results {
            assert_eq!((result.status, result.executed), (CallStatus::Unavailable, Executed::Unknown), "{result:?}");
        }
        failed.push(results.iter().map(|(_result, at)| *at - killed).max().unwrap());
        back.push(returned - killed);
        assert_eq!((fleet.status("p").starts, fleet.status("good").starts), (round + 1, 1));
        fleet.neighbours_answer().await;
    }
    failed.sort();
    back.sort();
    assert!(failed[2] < FAILED, "calls failed after {failed:?}");
    assert!(back[2] < BACK, "it was back after {back:?}");
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_goes_on_dying_is_left_alone_and_says_so() {
    let _others = QUIET.read().await;
    let fleet = Fleet::start().await;
    let breaker =
        Breaker { failures: 2, open: Duration::from_secs(3), max_open: Duration::from_secs(3), ..Breaker::default() };
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
    until("the trial", async || fleet.call("p", "answer", json!(1)).await.status == CallStatus::Ok).await;
    assert_eq!(fleet.status("p").state, ProviderState::Up);
    fleet.close().await;
}

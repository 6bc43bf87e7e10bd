//! Cancelled calls, late answers, and requests of a plugin within a call.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolyard::{CallStatus, Executed};
use toolyard_tests::{HANG, until};

use crate::plugin_fleet::{Fleet, Gate, batch, given};

const CANCELS: u64 = 1000;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_cancels_leave_nothing_pending() {
    let fleet = Fleet::start().await;
    fleet.up("p", json!({}), |tuning| tuning.settings.max_in_flight = NonZeroUsize::new(16)).await;
    let pid = fleet.pid("p").await;
    let mut running = tokio::task::JoinSet::new();
    for number in 0..CANCELS {
        let registry = Arc::clone(&fleet.registry);
        // Before it is sent, on its way, in its handler, about to be answered.
        let moment = Duration::from_micros(number * 7919 % 40_000);
        let deed = ["slow", "answer", "ask"][usize::try_from(number % 3).unwrap()];
        let value = if deed == "ask" { json!([1, "never"]) } else { json!(0.02) };
        running.spawn(async move {
            let cancel = CancellationToken::new();
            let work = batch("p", deed, value, None).with_cancel(cancel.clone());
            if number % 2 == 0 {
                // The caller goes away.
                tokio::time::timeout(moment, registry.dispatch(work)).await.ok();
                return;
            }
            let outcome = tokio::spawn(async move { registry.dispatch(work).await });
            tokio::time::sleep(moment).await;
            cancel.cancel();
            let result = outcome.await.unwrap().results.remove(0);
            assert!(matches!(result.status, CallStatus::Ok | CallStatus::Cancelled), "{result:?}");
        });
        if number % 50 == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    until("no call in flight", async || fleet.status("p").in_flight == 0).await;
    until("nothing pending", async || fleet.value("p", "pending", json!(null)).await == json!(0)).await;
    let all = futures::future::join_all((0..16).map(|_| fleet.value("p", "slow", json!(0.1)))).await;
    assert_eq!(all, vec![json!("slept"); 16], "every place is free again");
    assert_eq!((fleet.pid("p").await, fleet.status("p").starts), (pid, 1));
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_goes_to_nobody() {
    let fleet = Fleet::start().await;
    let tune = |tuning: &mut crate::plugin_fleet::Tuning| {
        tuning.settings.max_in_flight = NonZeroUsize::new(1);
        // It is not ended for the handler that goes on.
        tuning.runner.cancel_grace_ms = (20 * HANG).as_millis().try_into().unwrap();
    };
    fleet.up("p", json!({}), tune).await;
    let (gate, cancel) = (Gate::new(), CancellationToken::new());
    let stubborn = batch("p", "stubborn", gate.value(), None).with_cancel(cancel.clone());
    let (mut given_up, ()) = tokio::join!(fleet.registry.dispatch(stubborn), async {
        gate.holds().await;
        cancel.cancel();
    });
    let late = given_up.results.remove(0);
    assert_eq!((late.status, late.executed), (CallStatus::Cancelled, Executed::Unknown), "{late:?}");
    gate.open();
    // Its place is free once it has answered: these come behind it.
    for number in 0..20 {
        assert_eq!(fleet.value("p", "answer", json!(number)).await, json!(number));
    }
    assert_eq!(fleet.status("p").starts, 1);
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_within_a_call_has_the_time_that_the_call_has_left() {
    let fleet = Fleet::start().await;
    let tune = |tuning: &mut crate::plugin_fleet::Tuning| {
        tuning.settings.max_in_flight = NonZeroUsize::new(1);
        tuning.settings.tool_timeout = Some(20 * HANG);
    };
    fleet.up("p", json!({}), tune).await;
    let result = fleet.call("p", "ask", json!([1, "quick"])).await;
    assert_eq!(given(&result), json!({"True": 1}), "it is answered while its call runs");
    let asked = fleet.bot.asked.lock().unwrap().clone();
    let [(text, left, is_called)] = &*asked else { panic!("one run: {asked:?}") };
    assert_eq!((&**text, *is_called), ("quick", true));
    let bounds = 19 * HANG..=20 * HANG;
    assert!(bounds.contains(left), "{left:?} are left of {:?}, not a time of its own", 20 * HANG);
    fleet.close().await;
}

//! A provider may keep a call's place after the call itself has been given up.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use toolyard::CallStatus::{Cancelled, Timeout};
use toolyard::{CallHold, FunctionTool, Limits, ProviderSettings, ToolExecutionResult, ToolRegistry, ToolSpec};

use crate::fixture::{ASYNC_CLASSES, OK, batch, ms, registry_with, run, settings, status_of, statuses, timed, until};

/// The holds that tools have taken.
type Holds = Arc<Mutex<Vec<CallHold>>>;

/// A tool that holds its place and hangs, beside one that answers at once.
async fn holding(settings: ProviderSettings, change: impl Fn(ToolSpec) -> ToolSpec) -> (ToolRegistry, Holds) {
    let holds = Holds::default();
    let taken = Arc::clone(&holds);
    let hold = FunctionTool::new(change(ToolSpec::new("hold", "")), move |_, context| {
        taken.lock().unwrap().push(context.hold());
        async move {
            let _context = context;
            std::future::pending().await
        }
    });
    let quick = FunctionTool::new(change(ToolSpec::new("quick", "")), |_, context| {
        // A hold that ends with the call changes nothing.
        let hold = context.hold();
        async move {
            drop(hold);
            Ok(ToolExecutionResult::success("done"))
        }
    });
    (registry_with(Limits::default(), settings, [hold, quick]).await, holds)
}

fn serial(class: toolyard::ExecutionClass) -> ProviderSettings {
    settings(|settings| (settings.max_in_flight, settings.execution) = (Some(NonZeroUsize::MIN), class))
}

#[tokio::test(start_paused = true)]
async fn a_held_call_keeps_its_permit_until_the_hold_is_dropped() {
    for class in ASYNC_CLASSES {
        let (registry, holds) = holding(serial(class), |spec| spec).await;
        let (outcome, time) = timed(registry.dispatch(batch(["hold"]).with_deadline(ms(50)))).await;
        assert_eq!((statuses(&outcome), time), (vec![Timeout], ms(50)), "the caller waits no longer for it");
        assert_eq!(status_of(&registry, "p").in_flight, 1);
        let outcome = registry.dispatch(batch(["quick"]).with_deadline(ms(50))).await;
        assert_eq!(statuses(&outcome), [Timeout], "{class:?}: the place is taken");

        let waiting = registry.start(batch(["quick"])).await.unwrap();
        tokio::time::sleep(ms(50)).await;
        holds.lock().unwrap().clear();
        assert_eq!(statuses(&waiting.outcome().await.unwrap()), [OK]);
        assert_eq!(status_of(&registry, "p").in_flight, 0);
        assert_eq!(statuses(&run(&registry, ["quick"; 3]).await), [OK; 3]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tools_own_limit_is_held_as_well_and_no_other_tools() {
    let (registry, holds) = holding(settings(|_| ()), |spec| spec.with_max_in_flight(NonZeroUsize::MIN)).await;
    let held = registry.start(batch(["hold", "hold"])).await.unwrap();
    until("one is inside", || holds.lock().unwrap().len() == 1).await;
    held.cancel();
    assert_eq!(statuses(&held.outcome().await.unwrap()), [Cancelled; 2]);
    assert_eq!(statuses(&run(&registry, ["quick"]).await), [OK]);
    let outcome = registry.dispatch(batch(["hold"]).with_deadline(ms(50))).await;
    assert_eq!((statuses(&outcome), holds.lock().unwrap().len()), (vec![Timeout], 1), "it was not entered");
    holds.lock().unwrap().clear();
    registry.dispatch(batch(["hold"]).with_deadline(ms(50))).await;
    assert_eq!(holds.lock().unwrap().len(), 1, "now it was");
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_a_held_call_within_its_time() {
    let drains = settings(|settings| (settings.drain, settings.close_timeout) = (ms(1000), ms(300)));
    let (registry, holds) = holding(drains.clone(), |spec| spec).await;
    registry.dispatch(batch(["hold"]).with_deadline(ms(10))).await;
    let removal = tokio::spawn({
        let registry = registry.clone();
        async move { timed(registry.unregister("p")).await }
    });
    tokio::time::sleep(ms(500)).await;
    assert!(!removal.is_finished());
    holds.lock().unwrap().clear();
    let (removed, time) = removal.await.unwrap();
    assert!(removed.is_ok() && time >= ms(500) && time < ms(510), "{time:?}");

    let (registry, holds) = holding(drains, |spec| spec).await;
    registry.dispatch(batch(["hold"]).with_deadline(ms(10))).await;
    let (_, time) = timed(registry.unregister("p")).await;
    assert_eq!(time, ms(1300), "one that is never dropped is left behind");
    drop(holds);
}

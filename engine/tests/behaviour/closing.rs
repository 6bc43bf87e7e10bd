//! The end of an engine: in good order, within its time, and nothing is left.

use std::sync::atomic::Ordering;

use toolyard::CallStatus::Cancelled;
use toolyard::{ErrorCode, Executed, RegistryError, ToolBatch, ToolRegistry};

use crate::fixture::{HOUR, OK, Probe, Script, Start, batch, call_with, codes, hanging, limits, ms, no_task_is_left};
use crate::fixture::{provider, registry, run, saying, settings, sleeper, statuses, timed, until};

#[tokio::test(start_paused = true)]
async fn batches_may_finish_within_the_grace() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(100), &probe)]).await;
    let handle = registry.start(batch(["sleep"; 2])).await.unwrap();
    let dispatch = run(&registry, ["sleep"]);
    let close = async {
        until("all run", || probe.inside() == 3).await;
        registry.close(ms(10_000)).await;
    };
    let ((direct, ()), time) = timed(async { tokio::join!(dispatch, close) }).await;
    assert_eq!((statuses(&direct), time), (vec![OK], ms(100)), "it does not wait longer than it must");
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [OK; 2]);
    no_task_is_left().await;
}

#[tokio::test(start_paused = true)]
async fn batches_that_outlast_the_grace_are_cancelled() {
    let probe = Probe::default();
    let registry = registry([hanging("hang", &probe)]).await;
    let script = Script::new("a", ["t"]);
    script.launch(&registry, settings(|_| ())).await;
    let handle = registry.start(batch(["hang"; 2])).await.unwrap();
    let close = async {
        until("all run", || probe.inside() == 3).await;
        registry.close(ms(200)).await;
    };
    let (direct, (_, time)) = tokio::join!(run(&registry, ["hang"]), timed(close));
    assert!(time >= ms(200) && time < ms(250), "{time:?}");
    for outcome in [direct, handle.outcome().await.unwrap()] {
        assert!(codes(&outcome).iter().all(|code| *code == Some(ErrorCode::CancelledShutdown)));
        assert_eq!(outcome.results[0].executed, Executed::Unknown);
    }
    assert_eq!((script.closed.load(Ordering::SeqCst), script.inside_at_close.load(Ordering::SeqCst)), (1, 0));
    no_task_is_left().await;
    assert_eq!((probe.dropped(), script.dropped.load(Ordering::SeqCst)), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_once_closing_has_begun() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(500), &probe), saying("say", "hi")]).await;
    let late = async {
        until("the slow call runs", || probe.inside() == 1).await;
        let closing = registry.clone();
        let close = tokio::spawn(async move { closing.close(ms(1000)).await });
        tokio::time::sleep(ms(10)).await;
        let outcome = run(&registry, ["say", "nothing"]).await;
        assert_eq!(codes(&outcome), [Some(ErrorCode::CancelledShutdown); 2], "during the grace");
        assert_eq!(registry.start(batch(["say"])).await.unwrap_err(), RegistryError::Closed);
        close.await.unwrap();
    };
    let (early, ()) = tokio::join!(run(&registry, ["sleep"]), late);
    assert_eq!(statuses(&early), [OK]);
    assert_eq!(statuses(&run(&registry, ["say"]).await), [Cancelled], "after the end");
    assert_eq!(registry.start(batch(["say"])).await.unwrap_err(), RegistryError::Closed);
    let registered = registry.register(provider("q", []), settings(|_| ())).await;
    assert_eq!(registered, Err(RegistryError::Closed));
    assert_eq!(registry.unregister("p").await, Err(RegistryError::Closed));
    let (_, time) = timed(registry.close(HOUR)).await;
    assert_eq!(time, ms(0), "closing twice is no fault");
    assert!(registry.providers().is_empty() && !registry.has_tool("say"));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_starting_is_given_up() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let slow = Script::new("slow", ["t"]).starts_with([Start::After(HOUR)]);
    let hanging = Script::new("hanging", ["t"]).starts_with([Start::ListingHangs]);
    let failing = Script::new("failing", ["t"]).starts_with([Start::Fails, Start::Fails]);
    for script in [&slow, &hanging, &failing] {
        registry.launch(script.connector(), settings(|_| ())).await.unwrap();
    }
    tokio::time::sleep(ms(50)).await;
    let (_, time) = timed(registry.close(ms(0))).await;
    assert_eq!(time, ms(0));
    no_task_is_left().await;
    assert_eq!((slow.dropped.load(Ordering::SeqCst), hanging.dropped.load(Ordering::SeqCst)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn calls_on_a_replaced_provider_that_still_drains_end_too() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let old = Script::new("a", ["hang"]);
    old.launch(&registry, settings(|_| ())).await;
    let close = async {
        tokio::time::sleep(ms(10)).await;
        let patient = settings(|settings| settings.drain = HOUR);
        registry.register(provider("a", [saying("say", "hi")]), patient).await.unwrap();
        timed(registry.close(ms(100))).await.1
    };
    let (outcome, time) = tokio::join!(run(&registry, ["hang"]), close);
    assert_eq!(codes(&outcome), [Some(ErrorCode::CancelledShutdown)]);
    assert!(time < ms(200), "{time:?}");
    assert_eq!((old.closed.load(Ordering::SeqCst), old.inside_at_close.load(Ordering::SeqCst)), (1, 0));
    no_task_is_left().await;
}

#[tokio::test(start_paused = true)]
async fn a_dispatch_that_nobody_polls_does_not_hold_the_close() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    script.launch(&registry, settings(|_| ())).await;
    let slow = ToolBatch::new(vec![call_with("c1", "t", &serde_json::json!({"ms": 60_000}))]);
    let mut forgotten = Box::pin(registry.dispatch(slow));
    assert!(tokio::time::timeout(ms(10), &mut forgotten).await.is_err());
    let (_, time) = timed(registry.close(ms(100))).await;
    assert!(time < ms(30_000), "{time:?}");
    assert_eq!(script.closed.load(Ordering::SeqCst), 1);
    assert_eq!(codes(&forgotten.await), [Some(ErrorCode::CancelledShutdown)]);
}

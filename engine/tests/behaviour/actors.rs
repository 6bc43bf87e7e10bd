//! What the control plane owes to the way it uses its actor framework.

use std::sync::atomic::Ordering;

use toolyard::{Breaker, ProviderState, ToolExecutionContext, ToolRegistry};

use crate::fixture::{Fault, HOUR, OK, Probe, Script, Start, batch, hanging, limits, ms, no_task_is_left, provider};
use crate::fixture::{registry, run, run_one, saying, settings, state_of, statuses, timed, until};

#[tokio::test(start_paused = true)]
async fn a_provider_that_starts_slowly_blocks_no_registration_and_no_listing() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let slow = Script::new("slow", ["t"]).starts_with([Start::After(ms(20_000))]);
    let ((), time) = timed(async {
        registry.launch(slow.connector(), settings(|_| ())).await.unwrap();
        registry.register(provider("q", [saying("say", "hi")]), settings(|_| ())).await.unwrap();
        assert_eq!(registry.list_tools(&ToolExecutionContext::default()).len(), 1);
        assert_eq!(statuses(&run(&registry, ["say"]).await), [OK]);
        registry.unregister("q").await.unwrap();
    })
    .await;
    assert!(time < ms(100) && state_of(&registry, "slow") == ProviderState::Starting, "{time:?}");
}

#[tokio::test(start_paused = true)]
async fn a_launched_provider_is_known_at_once_and_can_be_waited_for() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let slow = Script::new("slow", ["t"]).starts_with([Start::After(ms(1000))]);
    registry.launch(slow.connector(), settings(|_| ())).await.unwrap();
    assert_eq!(state_of(&registry, "slow"), ProviderState::Starting);
    let (_, time) = timed(registry.wait_started(ms(200))).await;
    assert_eq!(time, ms(200), "no longer than it is told to");
    let (_, time) = timed(registry.wait_started(HOUR)).await;
    assert_eq!((time, state_of(&registry, "slow")), (ms(800), ProviderState::Up));
    assert_eq!(timed(registry.wait_started(HOUR)).await.1, ms(0));
}

#[tokio::test(start_paused = true)]
async fn providers_that_crash_all_the_time_leave_the_registry_and_the_others_alone() {
    let registry = registry([saying("say", "hi")]).await;
    let mad = Script::new("mad", ["t"]);
    for fault in [Fault::Drop, Fault::CloseCall, Fault::Availability] {
        mad.panics_in(fault);
    }
    let hasty = settings(|settings| {
        settings.backoff.max = ms(100);
        settings.breaker = Some(Breaker::OFF);
    });
    mad.launch(&registry, hasty).await;
    // More often than any supervisor's budget of restarts.
    for crash in 2..30 {
        mad.crash();
        until("it is up again", || mad.attempts() == crash && state_of(&registry, "mad") == ProviderState::Up).await;
        assert_eq!(run_one(&registry, "say").await.status, OK);
    }
    let new = Script::new("new", ["u"]);
    new.launch(&registry, settings(|_| ())).await;
    assert_eq!(statuses(&run(&registry, ["say", "u"]).await), [OK, OK]);
    registry.close(ms(0)).await;
    no_task_is_left().await;
}

#[tokio::test(start_paused = true)]
async fn a_registry_that_is_dropped_unclosed_leaves_no_task_and_no_connection() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let up = Script::new("up", ["t"]);
    up.launch(&registry, settings(|_| ())).await;
    let starting = Script::new("starting", ["t"]).starts_with([Start::ListingHangs]);
    registry.launch(starting.connector(), settings(|_| ())).await.unwrap();
    let down = Script::new("down", ["t"]).starts_with([Start::Fails, Start::Fails]);
    registry.launch(down.connector(), settings(|_| ())).await.unwrap();
    tokio::time::sleep(ms(10)).await;
    let clone = registry.clone();
    drop(registry);
    assert_eq!(run_one(&clone, "t").await.status, OK, "the last clone keeps it alive");
    drop(clone);
    no_task_is_left().await;
    assert_eq!((up.closed.load(Ordering::SeqCst), up.dropped.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(starting.dropped.load(Ordering::SeqCst), 1);
    assert_eq!(down.attempts(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_batch_whose_registry_is_dropped_ends() {
    let probe = Probe::default();
    let registry = registry([hanging("hang", &probe)]).await;
    let handle = registry.start(batch(["hang"])).await.unwrap();
    until("it runs", || probe.inside() == 1).await;
    drop(registry);
    let (outcome, time) = timed(handle.outcome()).await;
    assert!(outcome.is_none_or(|outcome| statuses(&outcome) != [OK]));
    assert!(time < ms(100), "{time:?}");
    no_task_is_left().await;
    assert_eq!(probe.inside(), 0);
}

#[tokio::test(start_paused = true)]
async fn many_control_requests_at_once_are_all_answered() {
    let small = limits(|limits| limits.mailbox_capacity = 2);
    let registry = ToolRegistry::new(small);
    let requests = (0..100).map(|n| {
        let registry = registry.clone();
        async move {
            let name = format!("p{n}");
            let tools = [saying(&format!("t{n}"), "hi")];
            registry.register(provider(&name, tools), settings(|_| ())).await.unwrap();
            registry.reload(&name).await.unwrap();
            if n % 2 == 0 {
                registry.unregister(&name).await.unwrap();
            }
        }
    });
    futures::future::join_all(requests).await;
    assert_eq!(registry.providers().len(), 50);
    assert_eq!(registry.list_tools(&ToolExecutionContext::default()).len(), 50);
}

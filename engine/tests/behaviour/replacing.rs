//! Replacing, removing and reloading providers while calls are in flight.

use std::sync::atomic::Ordering;

use toolyard::CallStatus::{Unavailable, UnknownTool};
use toolyard::{CancellationToken, ErrorCode, ProviderState, RegistryError, ToolBatch, ToolRegistry};

use crate::fixture::{HOUR, OK, Script, Start, batch, call_with, code_of, limits, ms, provider, run, run_one, saying};
use crate::fixture::{settings, state_of, status_of, statuses, timed, until};

fn order(registry: &ToolRegistry) -> Vec<String> {
    registry.providers().iter().map(|status| status.name.to_string()).collect()
}

fn closed(script: &Script) -> usize {
    script.closed.load(Ordering::SeqCst)
}

/// A batch with one call that takes 100 ms.
fn slow(tool: &str) -> ToolBatch {
    ToolBatch::new(vec![call_with("c1", tool, &serde_json::json!({"ms": 100}))])
}

#[tokio::test(start_paused = true)]
async fn a_replaced_provider_finishes_its_calls_and_is_then_closed_once() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let (old, new) = (Script::new("a", ["t"]), Script::new("a", ["t", "u"]));
    old.launch(&registry, settings(|_| ())).await;
    registry.register(provider("b", [saying("u", "of b")]), settings(|_| ())).await.unwrap();
    assert_eq!(order(&registry), ["a", "b"]);

    let held = registry.start(slow("t")).await.unwrap();
    until("the call is in flight", || status_of(&registry, "a").in_flight == 1).await;
    new.starts_with([Start::After(ms(20))]).launch(&registry, settings(|_| ())).await;
    assert_eq!(order(&registry), ["b", "a"], "replaced goes last in precedence");
    assert_eq!((run_one(&registry, "u").await.history_content().as_str(), closed(&old)), ("of b", 0));

    let outcome = held.outcome().await.unwrap();
    assert_eq!((statuses(&outcome), outcome.results[0].duration), (vec![OK], ms(100)));
    until("the old one is dropped", || old.dropped.load(Ordering::SeqCst) == 1).await;
    assert_eq!((closed(&old), old.inside_at_close.load(Ordering::SeqCst)), (1, 0));
    assert_eq!((closed(&new), run_one(&registry, "t").await.status), (0, OK));
}

#[tokio::test(start_paused = true)]
async fn the_old_provider_serves_until_the_new_one_is_up() {
    let registry = ToolRegistry::new(limits(|_| ()));
    registry.register(provider("a", [saying("t", "old")]), settings(|_| ())).await.unwrap();
    let new = Script::new("a", ["t"]).starts_with([Start::Fails, Start::After(ms(100))]);
    registry.launch(new.connector(), settings(|_| ())).await.unwrap();
    registry.wait_started(HOUR).await;
    assert_eq!(state_of(&registry, "a"), ProviderState::Down);
    assert_eq!(run_one(&registry, "t").await.history_content(), "old");
    until("the new one is up", || state_of(&registry, "a") == ProviderState::Up).await;
    assert_eq!(run_one(&registry, "t").await.history_content(), "t of 2");
}

#[tokio::test(start_paused = true)]
async fn calls_that_outlast_the_drain_are_ended() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["hang"]);
    script.launch(&registry, settings(|settings| settings.drain = ms(300))).await;
    let held = registry.start(batch(["hang"])).await.unwrap();
    until("the call is in flight", || status_of(&registry, "a").in_flight == 1).await;
    let (removed, time) = timed(registry.unregister("a")).await;
    assert_eq!((removed, time, closed(&script)), (Ok(()), ms(300), 1));
    assert_eq!(script.inside_at_close.load(Ordering::SeqCst), 0, "closed after its last call");
    let outcome = held.outcome().await.unwrap();
    assert_eq!(
        (statuses(&outcome), code_of(&outcome.results[0])),
        (vec![Unavailable], Some(ErrorCode::ProviderCrashed))
    );
}

#[tokio::test(start_paused = true)]
async fn a_removed_provider_drains_and_its_tools_are_gone_at_once() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    script.launch(&registry, settings(|_| ())).await;
    let held = registry.start(slow("t")).await.unwrap();
    until("the call is in flight", || status_of(&registry, "a").in_flight == 1).await;
    let removal = tokio::spawn({
        let registry = registry.clone();
        async move { registry.unregister("a").await }
    });
    until("the tool is gone", || !registry.has_tool("t")).await;
    let result = run_one(&registry, "t").await;
    assert_eq!((result.status, code_of(&result)), (UnknownTool, Some(ErrorCode::ToolRemoved)));
    assert!(!removal.is_finished() && closed(&script) == 0);

    assert_eq!(statuses(&held.outcome().await.unwrap()), [OK]);
    assert_eq!((removal.await.unwrap(), closed(&script)), (Ok(()), 1));
    assert!(registry.providers().is_empty());
    assert_eq!(registry.unregister("a").await, Err(RegistryError::UnknownProvider("a".to_owned())));
    script.launch(&registry, settings(|_| ())).await;
    assert_eq!(run_one(&registry, "t").await.status, OK, "what comes back is no longer removed");
}

#[tokio::test(start_paused = true)]
async fn a_reload_swaps_the_incarnation_and_keeps_the_place() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]).starts_with([Start::After(ms(0)), Start::After(ms(50))]);
    script.launch(&registry, settings(|_| ())).await;
    registry.register(provider("b", [saying("t", "of b")]), settings(|_| ())).await.unwrap();
    let held = registry.start(slow("t")).await.unwrap();
    until("the call is in flight", || status_of(&registry, "a").in_flight == 1).await;
    registry.reload("a").await.unwrap();
    assert_eq!((order(&registry), status_of(&registry, "a").starts), (vec!["a".to_owned(), "b".to_owned()], 2));
    assert_eq!(run_one(&registry, "t").await.history_content(), "t of 2");
    assert_eq!(held.outcome().await.unwrap().results[0].history_content(), "t of 1");
    until("the old one is closed", || closed(&script) == 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_reload_leaves_the_old_incarnation() {
    let registry = ToolRegistry::new(limits(|_| ()));
    for start in [Start::Fails, Start::ListingFails, Start::Panics, Start::ListingHangs] {
        let script = Script::new("a", ["t"]).starts_with([Start::After(ms(0)), start]);
        script.launch(&registry, settings(|settings| settings.start_timeout = ms(200))).await;
        let reloaded = registry.reload("a").await;
        assert!(matches!(reloaded, Err(RegistryError::StartFailed { .. })), "{reloaded:?}");
        assert_eq!(state_of(&registry, "a"), ProviderState::Up);
        assert_eq!(run_one(&registry, "t").await.history_content(), "t of 1");
        registry.unregister("a").await.unwrap();
        // Whatever was connected was given back, the incarnation whose listing failed too.
        assert_eq!(closed(&script), script.dropped.load(Ordering::SeqCst));
    }
    assert_eq!(registry.reload("a").await, Err(RegistryError::UnknownProvider("a".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_crash_during_a_reload_leaves_the_reload_going() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]).starts_with([Start::After(ms(0)), Start::After(ms(100))]);
    script.launch(&registry, settings(|_| ())).await;
    let reload = tokio::spawn({
        let registry = registry.clone();
        async move { registry.reload("a").await }
    });
    until("the reload has begun", || script.attempts() == 2).await;
    script.crash();
    assert_eq!(reload.await.unwrap(), Ok(()));
    assert_eq!((script.attempts(), run_one(&registry, "t").await.history_content().as_str()), (2, "t of 2"));
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_began_before_a_replacement_ends_on_what_it_saw() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let old = Script::new("a", ["t"]);
    old.launch(&registry, settings(|_| ())).await;
    let (outcome, ()) = tokio::join!(registry.dispatch(slow("t")), async {
        tokio::time::sleep(ms(10)).await;
        registry.register(provider("a", [saying("t", "new")]), settings(|_| ())).await.unwrap();
        assert_eq!(statuses(&run(&registry, ["t"]).await), [OK]);
    });
    assert_eq!(outcome.results[0].history_content(), "t of 1");
}

/// Several threads: the actor and the task that retires an incarnation race.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_incarnation_is_closed_exactly_once() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    for round in 1..=200 {
        let quick = settings(|settings| settings.drain = ms(0));
        registry.launch(script.connector(), quick).await.unwrap();
        registry.wait_started(HOUR).await;
        registry.reload("a").await.unwrap();
        registry.unregister("a").await.unwrap();
        until("both are dropped", || script.dropped.load(Ordering::SeqCst) == 2 * round).await;
        assert_eq!(closed(&script), 2 * round);
    }
    assert!(order(&registry).is_empty());
}

/// Several threads: what a caller is told must be true for the calls that follow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_registry_says_it_did_can_be_seen_by_the_next_call() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    for round in 0..200 {
        let quick = || settings(|settings| settings.drain = ms(1));
        registry.register(provider("p", [saying("say", "hi")]), quick()).await.unwrap();
        assert_eq!(run_one(&registry, "say").await.status, OK, "round {round}");
        registry.unregister("p").await.unwrap();
        assert_eq!(run_one(&registry, "say").await.status, UnknownTool, "round {round}");

        script.launch(&registry, quick()).await;
        registry.reload("a").await.unwrap();
        let said = run_one(&registry, "t").await.history_content();
        assert_eq!(said, format!("t of {}", script.attempts()), "round {round}");
    }
}

/// Several threads: calls go on while the provider is reloaded and replaced under them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_fails_because_its_provider_is_reloaded_or_replaced() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    script.launch(&registry, settings(|_| ())).await;
    let enough = CancellationToken::new();
    let caller = tokio::spawn({
        let (registry, enough) = (registry.clone(), enough.clone());
        async move {
            while !enough.is_cancelled() {
                // Many calls, so that there is time between reading the table and entering the last tool.
                let outcome = run(&registry, ["t"; 64]).await;
                assert_eq!(statuses(&outcome), [OK; 64], "{:?}", outcome.results[0].error);
                tokio::task::yield_now().await;
            }
        }
    });
    for _ in 0..100 {
        registry.reload("a").await.unwrap();
        script.launch(&registry, settings(|_| ())).await;
    }
    enough.cancel();
    caller.await.unwrap();
}

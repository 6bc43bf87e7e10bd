//! Providers that ask to be made anew themselves, and requests for it that come in a storm.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolyard::CallStatus::UnknownTool;
use toolyard::{ErrorCode, ProviderSettings, ProviderState, ToolBatch, ToolExecutionContext, ToolRegistry};

use crate::fixture::{HOUR, OK, Script, Start, call_with, code_of, limits, ms, provider, run, run_one, saying};
use crate::fixture::{settings, state_of, status_of, statuses, timed, until};

fn slow(tool: &str) -> ToolBatch {
    ToolBatch::new(vec![call_with("c1", tool, &serde_json::json!({"ms": 5000}))])
}

async fn launched(script: &Arc<Script>) -> ToolRegistry {
    let registry = ToolRegistry::new(limits(|_| ()));
    registry.register(provider("p", [saying("say", "hi")]), settings(|_| ())).await.unwrap();
    script.launch(&registry, ProviderSettings::default()).await;
    registry
}

fn listed(registry: &ToolRegistry) -> Vec<String> {
    let listed = registry.list_tools(&ToolExecutionContext::default());
    listed.iter().map(|tool| tool.model_name.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_new_version_is_swapped_in_and_the_old_one_finishes_its_calls() {
    let script = Script::new("a", ["x", "y"]);
    let registry = launched(&script).await;
    let held = registry.start(slow("x")).await.unwrap();
    until("the call is in flight", || status_of(&registry, "a").in_flight == 1).await;
    script.set_tools(["y", "z"]);
    script.outdated();
    until("the new one is up", || status_of(&registry, "a").starts == 2).await;
    assert_eq!(listed(&registry), ["say", "y", "z"], "exactly the new tools");
    let gone = run_one(&registry, "x").await;
    assert_eq!((gone.status, code_of(&gone)), (UnknownTool, Some(ErrorCode::ToolRemoved)));
    assert!(gone.history_content().contains("was removed"));
    assert_eq!(run_one(&registry, "y").await.history_content(), "y of 2", "nothing goes to the old one any more");
    assert_eq!(script.closed.load(Ordering::SeqCst), 0);
    assert_eq!(held.outcome().await.unwrap().results[0].history_content(), "x of 1");
    until("the old one is closed", || script.closed.load(Ordering::SeqCst) == 1).await;
    assert_eq!(script.inside_at_close.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_new_version_that_does_not_start_leaves_the_old_one_and_everyone_else() {
    let script = Script::new("a", ["t"]);
    let registry = launched(&script).await;
    for start in [Start::Fails, Start::ListingFails, Start::Panics] {
        script.starts_with([start]);
        let attempts = script.attempts();
        let old = script.keep_events();
        script.outdated();
        until("it was tried", || {
            assert_eq!(listed(&registry), ["say", "t"], "no tool disappears, not for a moment");
            script.attempts() == attempts + 1
        })
        .await;
        tokio::time::sleep(ms(500)).await;
        script.restore_events(old);
        assert_eq!((state_of(&registry, "a"), script.attempts()), (ProviderState::Up, attempts + 1));
        assert_eq!(run_one(&registry, "t").await.history_content(), "t of 1");
    }
    script.outdated();
    until("the mended one is up", || status_of(&registry, "a").starts == 2).await;
    assert_eq!(run_one(&registry, "t").await.history_content(), "t of 5");
}

#[tokio::test(start_paused = true)]
async fn a_storm_costs_one_start_at_a_time_and_starves_none() {
    let script = Script::new("a", ["t"]);
    let registry = launched(&script).await;
    script.starts_with([Start::After(ms(1000)), Start::After(ms(1000))]);
    let first = script.keep_events();
    // Faster than any start.
    for _ in 0..60 {
        script.restore_events(first.clone());
        script.outdated();
        tokio::time::sleep(ms(10)).await;
        assert!(script.attempts() <= 2, "one at a time");
    }
    until("the first is up all the same", || status_of(&registry, "a").starts == 2).await;
    tokio::time::sleep(HOUR).await;
    assert_eq!((script.attempts(), status_of(&registry, "a").starts), (3, 3), "and one more followed");
    assert_eq!(run_one(&registry, "t").await.history_content(), "t of 3");
}

#[tokio::test(start_paused = true)]
async fn reloads_asked_for_during_one_share_the_next() {
    let script = Script::new("a", ["t"]);
    let registry = launched(&script).await;
    script.starts_with([Start::After(ms(100)), Start::Fails]);
    let reload = |registry: &ToolRegistry| {
        let registry = registry.clone();
        tokio::spawn(async move { timed(registry.reload("a")).await })
    };
    let first = reload(&registry);
    until("the first has begun", || script.attempts() == 2).await;
    let later: Vec<_> = (0..5).map(|_| reload(&registry)).collect();
    assert_eq!(first.await.unwrap().0, Ok(()));
    for later in later {
        assert!(later.await.unwrap().0.is_err(), "what had begun before they asked is not what they asked for");
    }
    assert_eq!((script.attempts(), state_of(&registry, "a")), (3, ProviderState::Up));
    assert_eq!(statuses(&run(&registry, ["t", "say"]).await), [OK, OK]);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_always_out_of_date_is_made_anew_at_a_bounded_rate() {
    let script = Script::new("a", ["t"]);
    let registry = launched(&script).await;
    let begun = script.attempts();
    for _ in 0..1000 {
        script.outdated();
        tokio::time::sleep(ms(1)).await;
    }
    assert!(script.attempts() - begun <= 10, "{}", script.attempts());
    assert_eq!(run_one(&registry, "t").await.status, OK);
}

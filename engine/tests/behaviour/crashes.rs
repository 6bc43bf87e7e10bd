//! Providers that do not come up, or go away by themselves.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolyard::CallStatus::{Unavailable, UnknownTool};
use toolyard::{
    Backoff, Breaker, ErrorCode, Executed, NameForm, ProviderSettings, ProviderState, RegistryError, ToolRegistry,
};

use crate::fixture::{HOUR, OK, Probe, Script, Start, batch, code_of, codes, hanging, limits, ms, provider, registry};
use crate::fixture::{run, run_one, saying, settings, state_of, status_of, statuses, timed, until};

fn qualified() -> ProviderSettings {
    settings(|settings| settings.name_form = NameForm::Qualified)
}

fn waiting(first: u64, max: u64) -> ProviderSettings {
    settings(|settings| settings.backoff = Backoff { first: ms(first), max: ms(max) })
}

#[tokio::test(start_paused = true)]
async fn tools_of_a_provider_that_starts_or_failed_to_are_unavailable_not_unknown() {
    let registry = registry([saying("say", "hi")]).await;
    let script = Script::new("far", ["t"]).starts_with([Start::After(ms(100)), Start::Fails, Start::Fails]);
    registry.launch(script.connector(), qualified()).await.unwrap();
    assert_eq!(state_of(&registry, "far"), ProviderState::Starting);
    let outcome = run(&registry, ["far__t", "say", "fax__t", "t"]).await;
    assert_eq!(statuses(&outcome), [Unavailable, OK, UnknownTool, UnknownTool]);
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::ProviderStarting));
    assert!(outcome.results[0].history_content().contains("provider far is starting"), "and no other tool is called");
    registry.wait_started(HOUR).await;
    assert_eq!(run_one(&registry, "far__t").await.status, OK);

    let broken = Script::new("broken", ["t"]).starts_with([Start::Fails, Start::After(ms(0))]);
    broken.launch(&registry, qualified()).await;
    let outcome = run(&registry, ["broken__t", "say"]).await;
    assert_eq!(statuses(&outcome), [Unavailable, OK]);
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::ProviderDown));
    assert!(outcome.results[0].history_content().contains("nobody listens there"));
    assert_eq!(status_of(&registry, "broken").reason.as_deref(), Some("nobody listens there"));
    until("it comes up", || state_of(&registry, "broken") == ProviderState::Up).await;
    assert_eq!(run_one(&registry, "broken__t").await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn registering_a_provider_that_cannot_list_says_why_and_goes_on_trying() {
    let registry = registry([saying("say", "hi")]).await;
    let script = Script::new("bad", ["t"]).starts_with([Start::ListingFails, Start::ListingHangs]);
    let quick = settings(|settings| settings.start_timeout = ms(500));
    registry.launch(script.connector(), quick).await.unwrap();
    registry.wait_started(HOUR).await;
    assert!(status_of(&registry, "bad").reason.unwrap().contains("garbled"));
    until("the second attempt has timed out", || status_of(&registry, "bad").reason.unwrap().contains("500 ms")).await;
    until("the third is up", || state_of(&registry, "bad") == ProviderState::Up).await;
    // What had been connected in vain was closed as well.
    assert_eq!((script.closed.load(Ordering::SeqCst), script.dropped.load(Ordering::SeqCst)), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_crash_ends_the_calls_in_flight_at_once_and_no_others() {
    let probe = Probe::default();
    let registry = registry([hanging("other", &probe), saying("say", "hi")]).await;
    let script = Script::new("a", ["hang", "t"]);
    script.launch(&registry, settings(|_| ())).await;
    let mut handle = registry.start(batch(["hang", "other", "t", "hang"])).await.unwrap();
    until("the calls are in flight", || status_of(&registry, "a").in_flight == 2).await;
    let (crashed, time) = timed(async {
        script.crash();
        let mut crashed = Vec::new();
        while crashed.len() < 2 {
            match handle.events().next().await.unwrap() {
                toolyard::BatchEvent::CallSettled { index, status: Unavailable, .. } => crashed.push(index),
                _ => continue,
            }
        }
        crashed
    })
    .await;
    assert_eq!((crashed, time), (vec![0, 3], ms(0)));
    assert_eq!((probe.inside(), probe.told()), (1, 0));
    handle.cancel();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::ProviderCrashed));
    assert_eq!((outcome.results[0].executed, outcome.results[2].status), (Executed::Unknown, OK));
    assert!(outcome.results[0].history_content().contains("the pipe broke"));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_came_before_the_crash_stays() {
    let registry = ToolRegistry::new(limits(|_| ()));
    for class in crate::fixture::ASYNC_CLASSES {
        let script = Script::new("a", ["hang", "t"]);
        script.launch(&registry, settings(|settings| settings.execution = class)).await;
        let (outcome, ()) = tokio::join!(run(&registry, ["t", "hang"]), async {
            tokio::time::sleep(ms(50)).await;
            script.crash();
        });
        assert_eq!(statuses(&outcome), [OK, Unavailable], "{class:?}");
        registry.unregister("a").await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_down_keeps_its_names_and_comes_back() {
    let registry = registry([saying("say", "hi")]).await;
    let script = Script::new("a", ["t"]).starts_with([Start::After(ms(0)), Start::Fails]);
    script.launch(&registry, waiting(100, 1000)).await;
    script.crash();
    until("it is down", || state_of(&registry, "a") == ProviderState::Down).await;
    assert!(registry.has_tool("t"));
    let outcome = run(&registry, ["t", "say"]).await;
    assert_eq!((statuses(&outcome), codes(&outcome)[0]), (vec![Unavailable, OK], Some(ErrorCode::ProviderDown)));
    assert_eq!(outcome.results[0].executed, Executed::No);
    let listed = registry.list_tools(&toolyard::ToolExecutionContext::default());
    assert_eq!(listed.iter().map(|tool| &*tool.model_name).collect::<Vec<_>>(), ["say"], "what is shown is what runs");

    until("it is up again", || state_of(&registry, "a") == ProviderState::Up).await;
    let status = status_of(&registry, "a");
    assert_eq!((status.starts, status.reason, script.closed.load(Ordering::SeqCst)), (2, None, 1));
    assert_eq!(run_one(&registry, "t").await.history_content(), "t of 3");
}

#[tokio::test(start_paused = true)]
async fn the_wait_between_attempts_doubles_up_to_its_limit() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]).starts_with((0..6).map(|_| Start::Fails));
    script.launch(&registry, waiting(100, 1000)).await;
    tokio::time::sleep(ms(60_000)).await;
    assert_eq!(state_of(&registry, "a"), ProviderState::Up);
    assert_eq!(script.waits(), [100, 200, 400, 800, 1000, 1000].map(ms));
}

#[tokio::test(start_paused = true)]
async fn the_wait_begins_anew_only_after_an_incarnation_that_lived_long() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    let mut settings = waiting(100, 1000);
    settings.breaker = Some(Breaker::OFF);
    script.launch(&registry, settings).await;
    let up_again = async |attempts| {
        until("it is up again", || script.attempts() == attempts && state_of(&registry, "a") == ProviderState::Up)
            .await;
    };
    script.crash();
    up_again(2).await;
    script.crash();
    up_again(3).await;
    tokio::time::sleep(ms(5000)).await;
    script.crash();
    up_again(4).await;
    let [first, second, third] = script.waits()[..] else { unreachable!("four attempts") };
    assert!(first < ms(150) && second > ms(190), "{first:?} {second:?}");
    assert!(third > ms(5000) && third < ms(5150), "{third:?}");
}

#[tokio::test(start_paused = true)]
async fn a_reload_of_a_provider_that_is_down_does_not_wait_for_its_turn() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]).starts_with([Start::Fails, Start::Fails]);
    script.launch(&registry, waiting(60_000, 60_000)).await;
    let reloaded = registry.reload("a").await;
    assert!(matches!(&reloaded, Err(RegistryError::StartFailed { name, .. }) if name == "a"), "{reloaded:?}");
    let (reloaded, time) = timed(registry.reload("a")).await;
    assert_eq!((reloaded, time), (Ok(()), ms(0)));
    assert_eq!(run_one(&registry, "t").await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn a_provider_with_an_unusable_name_is_refused() {
    let registry = ToolRegistry::new(limits(|_| ()));
    for name in ["", "with space", "天气", &"x".repeat(65)] {
        let refused = registry.register(provider(name, []), settings(|_| ())).await;
        assert_eq!(refused, Err(RegistryError::InvalidName(name.to_owned())));
    }
    let fits: Arc<toolyard::FunctionProvider> = provider(&"x".repeat(64), []);
    assert_eq!(registry.register(fits, settings(|_| ())).await, Ok(()));
}

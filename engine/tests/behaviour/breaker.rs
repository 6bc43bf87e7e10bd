//! A provider that breaks again and again is left alone for a while.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use toolyard::CallStatus::{Cancelled, Timeout, ToolError, Unavailable};
use toolyard::{Backoff, Breaker, CallResult, CancellationToken, ErrorCode, Executed, Locale, NameForm};
use toolyard::{ProviderSettings, ProviderState, ToolBatch, ToolExecutionContext, ToolRegistry};

use crate::fixture::{OK, Script, Start, batch, call_with, code_of, ms, provider, registry, run, run_one};
use crate::fixture::{saying, settings, state_of, status_of, statuses, timed, until};

const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Calls the tool `t`, which does this.
async fn act(registry: &ToolRegistry, what: &str) -> CallResult {
    let call = call_with("c1", "t", &json!({"act": what}));
    registry.invoke(call, Arc::default()).await.unwrap()
}

async fn broken(registry: &ToolRegistry, times: usize) {
    for _ in 0..times {
        assert_eq!(code_of(&act(registry, "break").await), Some(ErrorCode::ProviderProtocol));
    }
}

/// A registry with `say` and a scripted provider `a` with the tool `t` that is up.
async fn launched(settings: ProviderSettings) -> (ToolRegistry, Arc<Script>) {
    let registry = registry([saying("say", "hi")]).await;
    let script = Script::new("a", ["t", "hang"]);
    script.launch(&registry, settings).await;
    (registry, script)
}

fn with_breaker(breaker: Breaker) -> ProviderSettings {
    settings(|settings| settings.breaker = Some(breaker))
}

/// Whether the next call passes the breaker; it goes well then.
async fn passes(registry: &ToolRegistry, script: &Script) -> bool {
    let before = script.entered();
    let result = act(registry, "").await;
    let passed = result.status == OK;
    assert_eq!(script.entered(), before + usize::from(passed));
    assert!(passed || code_of(&result) == Some(ErrorCode::ProviderBreakerOpen), "{result:?}");
    passed
}

#[tokio::test(start_paused = true)]
async fn after_three_failures_in_a_row_calls_are_refused_until_a_probe_has_passed() {
    let (registry, script) = launched(settings(|_| ())).await;
    broken(&registry, 3).await;
    let (refused, time) = timed(act(&registry, "")).await;
    assert_eq!((refused.status, time, refused.executed), (Unavailable, ms(0), Executed::No));
    assert_eq!(code_of(&refused), Some(ErrorCode::ProviderBreakerOpen));
    let said = refused.history_content();
    assert!(said.contains("do not retry") && said.contains("in 60 s") && said.contains("garbled"), "{said}");
    let chinese = ToolExecutionContext { locale: Locale::Zh, ..ToolExecutionContext::default() };
    let said = registry.invoke(call_with("c", "t", &json!({})), Arc::new(chinese)).await.unwrap().history_content();
    assert!(said.contains("请不要重试") && said.contains("60 秒"), "{said}");

    let status = status_of(&registry, "a");
    assert_eq!(status.state, ProviderState::BreakerOpen);
    assert!(status.reason.unwrap().contains("3 times in a row"), "the reason can be seen");
    assert_eq!(statuses(&run(&registry, ["say", "t"]).await), [OK, Unavailable], "others go on");
    let listed = registry.list_tools(&ToolExecutionContext::default());
    assert_eq!(listed.iter().map(|tool| &*tool.model_name).collect::<Vec<_>>(), ["say"], "what is shown is what runs");

    tokio::time::sleep(ms(59_999)).await;
    assert!(!passes(&registry, &script).await);
    tokio::time::sleep(ms(1)).await;
    assert!(passes(&registry, &script).await);
    assert_eq!((state_of(&registry, "a"), script.attempts()), (ProviderState::Up, 1));
    broken(&registry, 2).await;
    assert!(passes(&registry, &script).await, "the count began anew");
}

#[tokio::test(start_paused = true)]
async fn only_broken_counts() {
    let (registry, script) = launched(settings(|_| ())).await;
    for what in ["fail", "refuse", "panic"] {
        for _ in 0..5 {
            act(&registry, what).await;
        }
    }
    for _ in 0..5 {
        let late = registry.dispatch(batch(["hang"]).with_deadline(ms(10))).await;
        assert_eq!(statuses(&late), [Timeout]);
        let token = CancellationToken::new();
        token.cancel();
        assert_eq!(statuses(&registry.dispatch(batch(["t"]).with_cancel(token)).await), [Cancelled]);
    }
    assert!(passes(&registry, &script).await);

    // A tool that fails shows that its provider works; a refusal shows nothing.
    broken(&registry, 2).await;
    assert_eq!(act(&registry, "fail").await.status, ToolError);
    broken(&registry, 2).await;
    act(&registry, "refuse").await;
    assert!(state_of(&registry, "a") == ProviderState::Up);
    broken(&registry, 1).await;
    assert!(!passes(&registry, &script).await);
}

#[tokio::test(start_paused = true)]
async fn a_failed_probe_opens_it_for_twice_as_long_up_to_the_limit() {
    let (registry, script) = launched(settings(|_| ())).await;
    broken(&registry, 3).await;
    for open in [60, 120, 240, 300, 300] {
        tokio::time::sleep(seconds(open) - ms(1)).await;
        assert!(!passes(&registry, &script).await, "{open}");
        tokio::time::sleep(ms(1)).await;
        broken(&registry, 1).await;
    }
    tokio::time::sleep(seconds(300)).await;
    assert!(passes(&registry, &script).await);
    // Not stable for long enough yet.
    tokio::time::sleep(seconds(599)).await;
    broken(&registry, 3).await;
    tokio::time::sleep(seconds(299)).await;
    assert!(!passes(&registry, &script).await);
    tokio::time::sleep(seconds(1)).await;
    assert!(passes(&registry, &script).await);
    tokio::time::sleep(seconds(600)).await;
    broken(&registry, 3).await;
    tokio::time::sleep(seconds(60)).await;
    assert!(passes(&registry, &script).await, "stable for 600 s: as at first");
}

#[tokio::test(start_paused = true)]
async fn one_probe_at_a_time_and_one_that_is_given_up_makes_room() {
    for class in crate::fixture::ASYNC_CLASSES {
        let (registry, script) = launched(settings(|settings| settings.execution = class)).await;
        broken(&registry, 3).await;
        tokio::time::sleep(seconds(60)).await;
        let before = script.entered();
        let outcome = run(&registry, ["t"; 1]).await;
        assert_eq!(statuses(&outcome), [OK], "{class:?}");
        broken(&registry, 3).await;
        tokio::time::sleep(seconds(120)).await;

        let held = registry.start(batch(["hang"; 4])).await.unwrap();
        until("the probe is inside", || script.inside.load(Ordering::SeqCst) == 1).await;
        assert_eq!(script.entered(), before + 1 + 3 + 1, "{class:?}: of four, one went in");
        assert!(!passes(&registry, &script).await);
        held.cancel();
        let outcome = held.outcome().await.unwrap();
        assert_eq!(statuses(&outcome).iter().filter(|status| **status == Cancelled).count(), 1);
        assert!(passes(&registry, &script).await, "the probe said nothing, so the next is one");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_their_turn_are_not_entered_once_it_is_open() {
    let one = settings(|settings| settings.max_in_flight = Some(NonZeroUsize::MIN));
    let (registry, script) = launched(one).await;
    let calls = (0..10).map(|n| call_with(&format!("c{n}"), "t", &json!({"act": "break", "ms": 10})));
    let outcome = registry.dispatch(ToolBatch::new(calls.collect())).await;
    let refused = outcome.results.iter().filter(|r| code_of(r) == Some(ErrorCode::ProviderBreakerOpen)).count();
    assert_eq!((script.entered(), refused), (3, 7));
    assert!(outcome.results[3..].iter().all(|result| result.executed == Executed::No));
}

#[tokio::test(start_paused = true)]
async fn calls_that_fail_together_are_one_failure() {
    let (registry, script) = launched(settings(|_| ())).await;
    for wave in 1..=3 {
        let calls = (0..8).map(|n| call_with(&format!("c{n}"), "t", &json!({"act": "break", "ms": 10 + n})));
        let outcome = registry.dispatch(ToolBatch::new(calls.collect())).await;
        assert_eq!((statuses(&outcome), script.entered()), (vec![ToolError; 8], 8 * wave));
    }
    assert!(!passes(&registry, &script).await);
}

fn quick_restarts(change: impl FnOnce(&mut ProviderSettings)) -> ProviderSettings {
    settings(|settings| {
        settings.backoff = Backoff { first: ms(10), max: ms(50) };
        change(settings);
    })
}

async fn crash_and_return(registry: &ToolRegistry, script: &Script) {
    let attempts = script.attempts();
    script.crash();
    until("it started again", || script.attempts() > attempts).await;
    tokio::time::sleep(ms(60)).await;
    assert_eq!(status_of(registry, "a").starts as usize, script.attempts());
}

#[tokio::test(start_paused = true)]
async fn a_crash_is_one_failure_however_many_calls_it_ends() {
    let (registry, script) = launched(quick_restarts(|_| ())).await;
    let held = registry.start(batch(["hang"; 8])).await.unwrap();
    until("they are inside", || script.inside.load(Ordering::SeqCst) == 8).await;
    crash_and_return(&registry, &script).await;
    assert_eq!(statuses(&held.outcome().await.unwrap()), [Unavailable; 8]);
    crash_and_return(&registry, &script).await;
    assert!(passes(&registry, &script).await, "two crashes, and it is back");
    for _ in 0..3 {
        assert_eq!(state_of(&registry, "a"), ProviderState::Up);
        crash_and_return(&registry, &script).await;
    }
    assert!(!passes(&registry, &script).await, "three without a good call in between");
    assert_eq!(state_of(&registry, "a"), ProviderState::BreakerOpen);
    tokio::time::sleep(seconds(60)).await;
    let held = registry.start(batch(["hang"])).await.unwrap();
    until("the probe is inside", || script.inside.load(Ordering::SeqCst) == 1).await;
    crash_and_return(&registry, &script).await;
    assert_eq!(statuses(&held.outcome().await.unwrap()), [Unavailable]);
    tokio::time::sleep(seconds(119)).await;
    assert!(!passes(&registry, &script).await, "a probe that crashes it has failed");
    tokio::time::sleep(seconds(1)).await;
    assert!(passes(&registry, &script).await);
}

#[tokio::test(start_paused = true)]
async fn crashes_after_good_calls_are_no_row_but_are_slowed_all_the_same() {
    let slow = settings(|settings| settings.backoff = Backoff { first: seconds(1), max: seconds(30) });
    let (registry, script) = launched(slow).await;
    let mut waits = Vec::new();
    for attempts in 1..=6 {
        assert_eq!(act(&registry, "").await.status, OK, "good call {attempts}");
        script.crash();
        until("it is down", || state_of(&registry, "a") != ProviderState::Up).await;
        let down = act(&registry, "").await;
        assert_eq!((state_of(&registry, "a"), code_of(&down)), (ProviderState::Down, Some(ErrorCode::ProviderDown)));
        let (_, wait) = timed(async {
            while state_of(&registry, "a") != ProviderState::Up {
                tokio::time::sleep(ms(1)).await;
            }
        })
        .await;
        waits.push(wait.as_secs_f64().round() as u64);
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 30]);

    // Without a good call in between they are a row.
    assert_eq!(act(&registry, "").await.status, OK);
    let states = [ProviderState::Down, ProviderState::Down, ProviderState::BreakerOpen];
    for (crash, state) in states.into_iter().enumerate() {
        script.crash();
        until("it is down", || state_of(&registry, "a") != ProviderState::Up).await;
        assert_eq!(state_of(&registry, "a"), state, "crash {crash}");
        tokio::time::sleep(ms(30_500)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_good_call_after_starts_that_failed_begins_a_new_row() {
    let registry = ToolRegistry::new(toolyard::Limits::default());
    let script = Script::new("a", ["t"]).starts_with([Start::Fails, Start::Fails]);
    script.launch(&registry, quick_restarts(|_| ())).await;
    until("it is up", || state_of(&registry, "a") == ProviderState::Up).await;
    assert_eq!(act(&registry, "").await.status, OK);
    script.starts_with([Start::After(ms(500))]);
    script.crash();
    until("it is down", || state_of(&registry, "a") != ProviderState::Up).await;
    let down = act(&registry, "").await;
    assert_eq!(code_of(&down), Some(ErrorCode::ProviderDown), "its third failure, the first of a row");
    until("it is up again", || state_of(&registry, "a") == ProviderState::Up).await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_start_says_so_and_is_used_as_soon_as_it_does() {
    let registry = registry([saying("say", "hi")]).await;
    let script = Script::new("a", ["t"]).starts_with((0..5).map(|_| Start::Fails));
    let settings = settings(|settings| {
        settings.name_form = NameForm::Qualified;
        settings.backoff = Backoff { first: seconds(1), max: seconds(30) };
    });
    script.launch(&registry, settings).await;
    assert_eq!(code_of(&run_one(&registry, "a__t").await), Some(ErrorCode::ProviderDown));
    tokio::time::sleep(ms(1100)).await;
    assert_eq!((script.attempts(), state_of(&registry, "a")), (2, ProviderState::Down));
    tokio::time::sleep(seconds(2)).await;
    let status = status_of(&registry, "a");
    assert_eq!((script.attempts(), status.state), (3, ProviderState::BreakerOpen));
    assert_eq!(status.reason.as_deref(), Some("it failed 3 times in a row: nobody listens there"));
    let refused = run_one(&registry, "a__t").await;
    assert_eq!(code_of(&refused), Some(ErrorCode::ProviderBreakerOpen));
    assert!(refused.history_content().contains("in 4 s"), "{}", refused.history_content());

    tokio::time::sleep(seconds(4 + 8 + 16)).await;
    assert_eq!((script.attempts(), state_of(&registry, "a")), (6, ProviderState::Up));
    assert_eq!(run_one(&registry, "a__t").await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn a_reload_closes_it_at_once_for_as_long_as_it_takes_too() {
    let (registry, script) = launched(settings(|_| ())).await;
    broken(&registry, 3).await;
    assert!(!passes(&registry, &script).await);
    script.starts_with([Start::After(ms(500))]);
    let reload = tokio::spawn({
        let registry = registry.clone();
        async move { registry.reload("a").await }
    });
    until("the reload has begun", || script.attempts() == 2).await;
    assert!(passes(&registry, &script).await);
    reload.await.unwrap().unwrap();
    assert!(passes(&registry, &script).await);
    broken(&registry, 3).await;
    tokio::time::sleep(seconds(60)).await;
    assert!(passes(&registry, &script).await, "no doubling from before");
}

#[tokio::test(start_paused = true)]
async fn it_can_be_configured_and_switched_off() {
    let quick = Breaker { failures: 1, open: seconds(5), max_open: seconds(5), reset_after: seconds(10) };
    let (registry, script) = launched(with_breaker(quick)).await;
    for _ in 0..2 {
        broken(&registry, 1).await;
        assert!(!passes(&registry, &script).await);
        tokio::time::sleep(seconds(5)).await;
    }
    let (registry, _) = launched(with_breaker(Breaker::OFF)).await;
    broken(&registry, 20).await;

    let breaking = |name: &str| {
        toolyard::FunctionTool::new(toolyard::ToolSpec::new(name, ""), |_, _| {
            std::future::ready(Err(toolyard::ToolFailure::new(ErrorCode::ProviderProtocol, "garbled")))
        })
    };
    registry.register(provider("own", [breaking("b")]), settings(|_| ())).await.unwrap();
    registry.register(provider("told", [breaking("c")]), with_breaker(quick)).await.unwrap();
    let codes = |outcome: toolyard::BatchOutcome| outcome.results.iter().map(code_of).collect::<Vec<_>>();
    for _ in 0..5 {
        run(&registry, ["b"]).await;
        run(&registry, ["c"]).await;
    }
    let [protocol, open] = [ErrorCode::ProviderProtocol, ErrorCode::ProviderBreakerOpen].map(Some);
    assert_eq!(codes(run(&registry, ["b", "c"]).await), [protocol, open]);
}

#[tokio::test(start_paused = true)]
async fn failures_of_long_ago_are_forgotten() {
    let (registry, script) = launched(settings(|_| ())).await;
    for _ in 0..4 {
        broken(&registry, 1).await;
        tokio::time::sleep(seconds(600)).await;
    }
    broken(&registry, 1).await;
    assert!(passes(&registry, &script).await);
}

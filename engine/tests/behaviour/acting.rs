//! Acting without a model: screens, schedulers, and reads that are shared.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use toolyard::CallStatus::{ApprovalRequired, Denied, InvalidArguments, RateLimited, Timeout, ToolError, UnknownTool};
use toolyard::{
    Actor, CachedRead, Effect, ErrorCode, Executed, FunctionTool, Invoke, JsonText, Policy, SessionKey, SessionProfile,
    ToolExecutionContext, ToolExecutionResult, ToolNames, ToolRegistry, ToolSpec, UsageLimit, UsagePer,
};

use crate::fixture::{
    HOUR, OK, Probe, Script, code_of, limits, ms, provider, registry, registry_with, settings, sleeper, timed,
};

fn invoke(tool: &str, input: &str, actor: Actor) -> Invoke {
    Invoke::new(tool, JsonText::parse(input).unwrap(), actor)
}

fn user(id: &str) -> Arc<ToolExecutionContext> {
    Arc::new(ToolExecutionContext { user_id: id.to_owned(), ..ToolExecutionContext::default() })
}

fn spec(name: &str, effect: Effect) -> ToolSpec {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}, "m": {}}, "additionalProperties": false});
    let mut spec = ToolSpec::new(name, "").with_parameters(schema);
    spec.effect = Some(effect);
    spec
}

/// A tool that takes 10 ms and says how often it has run; an `n` of 0 fails.
fn counting(name: &str, effect: Effect) -> (FunctionTool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let tool = FunctionTool::new(spec(name, effect), move |invocation, _| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        let fails = invocation.arguments().value()["n"] == 0;
        async move {
            tokio::time::sleep(ms(10)).await;
            Ok(if fails {
                ToolExecutionResult::failure("no luck")
            } else {
                ToolExecutionResult::success(run.to_string())
            })
        }
    });
    (tool, runs)
}

async fn reading() -> (ToolRegistry, Arc<AtomicUsize>) {
    let (tool, runs) = counting("look.up", Effect::Read);
    (registry([tool]).await, runs)
}

fn said(read: &CachedRead) -> (String, Option<Duration>) {
    (read.result.history_content(), read.age)
}

#[tokio::test(start_paused = true)]
async fn a_person_is_not_asked_and_a_scheduler_is_refused_where_one_would_be() {
    let (tool, runs) = counting("pay", Effect::Money);
    let mut own = spec("own", Effect::Read);
    own.flags.user_only = true;
    let own = FunctionTool::new(own, |_, _| std::future::ready(Ok(ToolExecutionResult::success("yours"))));
    let registry = registry([tool, own]).await;
    let cases = [
        ("pay", Actor::User, OK, None),
        ("p.pay", Actor::User, OK, None),
        ("pay", Actor::Scheduler, Denied, Some(ErrorCode::PolicyDenied)),
        ("pay", Actor::Model, ApprovalRequired, Some(ErrorCode::PolicyApprovalRequired)),
        ("own", Actor::User, OK, None),
        ("own", Actor::Scheduler, Denied, Some(ErrorCode::PolicyUserOnly)),
        ("p.nothing", Actor::User, UnknownTool, Some(ErrorCode::ToolUnknown)),
    ];
    for (tool, actor, status, code) in cases {
        let result = registry.invoke_as(invoke(tool, "{}", actor)).await;
        assert_eq!((result.status, code_of(&result)), (status, code), "{tool} {actor:?}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn input_is_checked_as_it_is() {
    let (registry, runs) = reading().await;
    for input in [r#"{"n":"1"}"#, r#"{"x":1}"#, "[]", r#""{}""#] {
        let result = registry.invoke_as(invoke("p.look.up", input, Actor::User)).await;
        assert_eq!((result.status, result.executed), (InvalidArguments, Executed::No), "{input}");
        let read = registry.read_cached(invoke("p.look.up", input, Actor::User), HOUR).await;
        assert_eq!(read.result.status, InvalidArguments, "{input}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    let late = invoke("p.look.up", "{}", Actor::User).with_deadline(ms(5));
    assert_eq!(registry.invoke_as(late).await.status, Timeout);
}

#[tokio::test(start_paused = true)]
async fn a_read_is_given_again_while_it_is_young_enough_for_who_asks() {
    let (registry, _) = reading().await;
    let read = |ttl| registry.read_cached(invoke("p.look.up", r#"{"n":1,"m":[2]}"#, Actor::User), ttl);
    assert_eq!(said(&read(HOUR).await), ("1".to_owned(), None));
    tokio::time::advance(ms(500)).await;
    let other = invoke("p.look.up", " {\"m\" :[2] , \"n\":1}", Actor::User);
    assert_eq!(said(&registry.read_cached(other, HOUR).await), ("1".to_owned(), Some(ms(500))));
    assert_eq!(said(&read(ms(500)).await), ("2".to_owned(), None), "too old for this one");
    assert_eq!(said(&read(HOUR).await).0, "2");
    assert_eq!(said(&read(Duration::ZERO).await), ("3".to_owned(), None));
}

#[tokio::test(start_paused = true)]
async fn tenants_users_tools_and_inputs_have_reads_of_their_own() {
    let (one, two) = (counting("one", Effect::Read).0, counting("two", Effect::Read).0);
    let registry = registry([one, two]).await;
    let tenant = Arc::new(ToolExecutionContext { tenant: "t".to_owned(), ..ToolExecutionContext::default() });
    let asks = [
        ("one", r#"{"n":1}"#, user("a")),
        ("one", r#"{"n":1}"#, user("b")),
        ("one", r#"{"n":2}"#, user("a")),
        ("one", r#"{"n":1}"#, tenant),
        ("two", r#"{"n":1}"#, user("a")),
        ("one", r#"{"m":653247040368672768123456789}"#, user("a")),
        ("one", r#"{"m":653247040368672768123456790}"#, user("a")),
    ];
    for age in [None, Some(ms(70))] {
        for (tool, input, context) in &asks {
            let ask = invoke(tool, input, Actor::User).with_context(Arc::clone(context));
            assert_eq!(registry.read_cached(ask, HOUR).await.age.is_some(), age.is_some(), "{tool} {input}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_in_a_session_is_kept_for_the_user_of_its_profile() {
    let (registry, runs) = reading().await;
    for (number, user) in ["ann", "bob"].into_iter().enumerate() {
        let key = SessionKey { tenant: "".into(), session: user.into() };
        let profile = SessionProfile { user_id: user.to_owned(), ..SessionProfile::default() };
        registry.sessions().open(&key, Some(profile)).await;
        for age in [None, Some(())] {
            let ask = invoke("p.look.up", "{}", Actor::User).with_session(key.clone());
            assert_eq!(registry.read_cached(ask, HOUR).await.age.map(drop), age, "{user}");
        }
        assert_eq!(runs.load(Ordering::SeqCst), number + 1, "nobody is given what another has read");
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_not_kept_and_what_may_do_more_than_read_is_refused() {
    let (registry, runs) = reading().await;
    for expected in [1, 2] {
        let read = registry.read_cached(invoke("p.look.up", r#"{"n":0}"#, Actor::User), HOUR).await;
        assert_eq!((read.result.status, runs.load(Ordering::SeqCst)), (ToolError, expected));
    }
    let probe = Probe::default();
    let tools = [sleeper("undeclared", ms(0), &probe), counting("write", Effect::Write).0];
    registry.register(provider("q", tools), settings(|_| ())).await.unwrap();
    for tool in ["q.undeclared", "q.write"] {
        let read = registry.read_cached(invoke(tool, "{}", Actor::User), HOUR).await;
        assert_eq!((read.result.status, read.result.executed), (Denied, Executed::No), "{tool}");
        assert!(read.result.history_content().contains("`read`"), "{}", read.result.history_content());
    }
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn callers_at_the_same_time_share_one_run_and_one_who_leaves_takes_nobody_along() {
    let (registry, runs) = reading().await;
    let ask = || registry.read_cached(invoke("p.look.up", "{}", Actor::User), HOUR);
    let first = async { tokio::time::timeout(ms(5), ask()).await.is_err() };
    let hurried = registry.read_cached(invoke("p.look.up", "{}", Actor::User).with_deadline(ms(3)), HOUR);
    let (left, hurried, others) = tokio::join!(first, hurried, futures::future::join_all((0..20).map(|_| ask())));
    assert!(left);
    assert_eq!((hurried.result.status, hurried.result.executed), (Timeout, Executed::Unknown));
    assert!(others.iter().all(|read| said(read) == ("1".to_owned(), None)), "{others:?}");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_waits_for_is_cancelled() {
    let probe = Probe::default();
    let hang = probe.clone();
    let tool = FunctionTool::new(spec("hang", Effect::Read), move |invocation, context| {
        let visit = hang.enter(&invocation, &context);
        async move {
            let _visit = visit;
            std::future::pending().await
        }
    });
    let registry = registry([tool]).await;
    let ask = || registry.read_cached(invoke("hang", "{}", Actor::User), HOUR);
    let (one, two) = tokio::join!(tokio::time::timeout(ms(5), ask()), tokio::time::timeout(ms(9), ask()));
    assert!(one.is_err() && two.is_err());
    tokio::time::sleep(ms(1)).await;
    assert_eq!((probe.entered(), probe.inside()), (1, 0));
    // The next one starts anew.
    assert!(tokio::time::timeout(ms(5), ask()).await.is_err());
    assert_eq!(probe.entered(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_reload_ends_what_was_read_and_gates_hold_for_what_is_there() {
    let script = Script::new("s", []);
    script.set_specs(vec![spec("look", Effect::Read).with_parameters(json!({"type": "object"}))]);
    let registry = ToolRegistry::new(toolyard::Limits::default());
    script.launch(&registry, settings(|_| ())).await;
    let ask = |registry: &ToolRegistry| {
        let (registry, ask) = (registry.clone(), invoke("s.look", "{}", Actor::User));
        async move { registry.read_cached(ask, HOUR).await }
    };
    assert_eq!(said(&ask(&registry).await), ("look of 1".to_owned(), None));
    assert!(ask(&registry).await.age.is_some());
    registry.reload("s").await.unwrap();
    assert_eq!(said(&ask(&registry).await), ("look of 2".to_owned(), None));
    let mut policy = Policy::default();
    policy.denied = vec![toolyard::DenyRule::new(ToolNames::all())];
    registry.set_policy(policy);
    let read = ask(&registry).await;
    assert_eq!((read.result.status, read.age), (Denied, None));
}

#[tokio::test(start_paused = true)]
async fn what_is_there_already_uses_nothing_up() {
    let (registry, _) = reading().await;
    let mut policy = Policy::default();
    policy.usage = vec![UsageLimit::new("l", UsagePer::default(), ToolNames::all()).with_quota(1)];
    registry.set_policy(policy);
    let ask = |input: &str| registry.read_cached(invoke("p.look.up", input, Actor::User), HOUR);
    for _ in 0..3 {
        assert_eq!(ask(r#"{"n":1}"#).await.result.status, OK);
    }
    assert_eq!(ask(r#"{"n":2}"#).await.result.status, RateLimited);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_reads_go_when_there_is_no_room() {
    let (tool, runs) = counting("one", Effect::Read);
    let few = limits(|limits| limits.max_cached_reads = 2);
    let registry = registry_with(few, settings(|_| ()), [tool]).await;
    for n in [1, 2, 3, 3, 2] {
        registry.read_cached(invoke("one", &format!(r#"{{"n":{n}}}"#), Actor::User), HOUR).await;
    }
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    let (_, took) = timed(registry.read_cached(invoke("one", r#"{"n":1}"#, Actor::User), HOUR)).await;
    assert_eq!((took, runs.load(Ordering::SeqCst)), (ms(10), 4));
}

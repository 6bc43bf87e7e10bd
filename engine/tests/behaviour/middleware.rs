//! Middleware around calls: its order, what it may do, what its faults cost, and trying again where a provider broke.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolyard::CallStatus::{Cancelled, Denied, InvalidArguments, Timeout, ToolError};
use toolyard::{
    CallResult, Effect, ErrorCode, Executed, FunctionTool, InvokeResult, JsonText, Middleware, MiddlewareCall,
    MiddlewareFn, Next, Retry, Sent, ToolAnnotation, ToolExecutionResult, ToolFailure, ToolRegistry, ToolSpec,
};

use crate::fixture::{
    ASYNC_CLASSES, OK, Probe, batch, call_with, code_of, hanging, ms, registry, registry_with, run, run_one, saying,
    settings, sleeper, statuses, timed,
};

type Log = Arc<Mutex<Vec<String>>>;

fn with<F, Fut>(registry: &ToolRegistry, name: &str, handle: F)
where
    F: Fn(MiddlewareCall, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = InvokeResult> + Send + 'static,
{
    registry.add_middleware(Arc::new(MiddlewareFn::new(name, handle)));
}

fn echo() -> FunctionTool {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
    FunctionTool::new(ToolSpec::new("echo", "").with_parameters(schema), |invocation, _| {
        std::future::ready(Ok(ToolExecutionResult::success(invocation.arguments().text())))
    })
}

async fn echoed(registry: &ToolRegistry) -> CallResult {
    registry.invoke(call_with("c1", "echo", &json!({"n": 1})), Arc::default()).await.unwrap()
}

fn end(result: &CallResult) -> (toolyard::CallStatus, Option<ErrorCode>, Executed) {
    (result.status, code_of(result), result.executed)
}

#[tokio::test(start_paused = true)]
async fn the_first_registered_is_outermost_in_every_class() {
    for class in ASYNC_CLASSES {
        let log = Log::default();
        let registry = registry([saying("say", "hi").with_execution(class)]).await;
        for name in ["outer", "inner"] {
            let log = Arc::clone(&log);
            with(&registry, name, move |call, next| {
                let log = Arc::clone(&log);
                async move {
                    log.lock().unwrap().push(format!("+{name}"));
                    let result = next.run(call).await;
                    log.lock().unwrap().push(format!("-{name}"));
                    result
                }
            });
        }
        let result = run_one(&registry, "say").await;
        assert_eq!((end(&result), result.answered_by), ((OK, None, Executed::Yes), None), "{class:?}");
        assert_eq!(*log.lock().unwrap(), ["+outer", "+inner", "-inner", "-outer"]);
        registry.set_middleware(Vec::new());
        assert_eq!((run_one(&registry, "say").await.status, log.lock().unwrap().len()), (OK, 4));
    }
}

#[tokio::test(start_paused = true)]
async fn rewritten_arguments_are_checked_again_and_shown_as_run() {
    let registry = registry([echo()]).await;
    with(&registry, "rewrite", |call, next| {
        assert_eq!(call.arguments().as_str(), r#"{"n":1}"#);
        next.run(call.with_arguments(JsonText::parse(r#"{"n":2}"#).unwrap()))
    });
    with(&registry, "look", |call, next| {
        assert_eq!(call.arguments().as_str(), r#"{"n":2}"#);
        next.run(call)
    });
    let result = echoed(&registry).await;
    assert_eq!((result.history_content().as_str(), result.executed), (r#"{"n":2}"#, Executed::Yes));
    assert_eq!(result.arguments.unwrap().as_str(), r#"{"n":2}"#);
    for wrong in [r#"{"n":"2"}"#, r#"{"m":2}"#, "[]", r#""text""#] {
        with(&registry, "spoil", |call, next| next.run(call.with_arguments(JsonText::parse(wrong).unwrap())));
        let result = echoed(&registry).await;
        assert_eq!((result.status, result.executed), (InvalidArguments, Executed::No), "{wrong}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_the_tools_place_is_marked_and_a_denial_is_one() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(0), &probe)]).await;
    with(&registry, "outer", |call, next| next.run(call));
    with(&registry, "cache", |_, _| async { Ok(ToolExecutionResult::success("from memory")) });
    let result = run_one(&registry, "sleep").await;
    assert_eq!((end(&result), probe.entered()), ((OK, None, Executed::No), 0));
    assert_eq!((result.answered_by.as_deref(), result.history_content().as_str()), (Some("cache"), "from memory"));
    assert_eq!(serde_json::to_value(&result).unwrap()["answered_by"], "cache");
    registry.set_middleware(vec![Arc::new(MiddlewareFn::new("deny", |call, _| {
        std::future::ready(call.deny("not on Sundays"))
    }))]);
    let result = run_one(&registry, "sleep").await;
    assert_eq!(end(&result), (Denied, Some(ErrorCode::PolicyDenied), Executed::No));
    assert_eq!((&*result.error.unwrap().message, probe.entered()), ("not on Sundays", 0));
}

#[tokio::test(start_paused = true)]
async fn what_ran_is_told_whatever_a_middleware_makes_of_it() {
    let registry = registry([saying("say", "hi")]).await;
    with(&registry, "late", |call, next| async move {
        next.run(call.clone()).await?;
        call.deny("too late")
    });
    assert_eq!(end(&run_one(&registry, "say").await), (Denied, Some(ErrorCode::PolicyDenied), Executed::Yes));
    registry.set_middleware(vec![Arc::new(MiddlewareFn::new("broken", |call, next: Next| async move {
        drop(next.run(call).await);
        panic!("as told")
    }))]);
    assert_eq!(end(&run_one(&registry, "say").await), (ToolError, Some(ErrorCode::MiddlewareFailed), Executed::Yes));
    registry.set_middleware(vec![Arc::new(MiddlewareFn::new("leaves", |call, next: Next| async move {
        drop(tokio::time::timeout(ms(5), next.run(call)).await);
        Ok(ToolExecutionResult::success("never mind"))
    }))]);
    let probe = Probe::default();
    registry.register(crate::fixture::provider("q", [hanging("hang", &probe)]), settings(|_| ())).await.unwrap();
    let result = run_one(&registry, "hang").await;
    assert_eq!((end(&result), result.answered_by), ((OK, None, Executed::Unknown), None));
}

#[tokio::test(start_paused = true)]
async fn a_fault_in_one_fails_its_call_only() {
    let registry = registry(["good", "panics", "throws"].map(|name| saying(name, "hi"))).await;
    with(&registry, "faulty", |call, next| {
        assert!(call.invocation().tool_name() != "throws", "before a future is made");
        async move {
            assert!(call.invocation().tool_name() != "panics", "as told");
            next.run(call).await
        }
    });
    let outcome = run(&registry, ["panics", "good", "throws"]).await;
    assert_eq!(statuses(&outcome), [ToolError, OK, ToolError]);
    let failed = (ToolError, Some(ErrorCode::MiddlewareFailed), Executed::No);
    assert_eq!([end(&outcome.results[0]), end(&outcome.results[2])], [failed; 2]);
    assert!(outcome.results[0].history_content().contains("`faulty`"), "{}", outcome.results[0].history_content());
}

/// Takes some time of its own, before the tool and after it.
struct Slow(Duration);

impl Middleware for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn handle(self: Arc<Self>, call: MiddlewareCall, next: Next) -> futures::future::BoxFuture<'static, InvokeResult> {
        Box::pin(async move {
            tokio::time::sleep(self.0).await;
            let result = next.run(call).await;
            tokio::time::sleep(self.0).await;
            result
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_middlewares_own_time_is_limited_and_the_tools_is_not_part_of_it() {
    let probe = Probe::default();
    let seconds = Duration::from_secs;
    let registry = registry([sleeper("sleep", seconds(30), &probe)]).await;
    let cases = [
        (seconds(2), (OK, None, Executed::Yes), seconds(34)),
        (seconds(3), (ToolError, Some(ErrorCode::MiddlewareFailed), Executed::Yes), seconds(35)),
        (seconds(6), (ToolError, Some(ErrorCode::MiddlewareFailed), Executed::No), seconds(5)),
    ];
    for (own, expected, time) in cases {
        registry.set_middleware(vec![Arc::new(Slow(own))]);
        let (result, took) = timed(run_one(&registry, "sleep")).await;
        assert_eq!((end(&result), took), (expected, time), "{own:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_in_a_middleware_never_enters_its_tool() {
    let probe = Probe::default();
    let registry =
        registry(ASYNC_CLASSES.map(|class| sleeper(&format!("{class:?}"), ms(0), &probe).with_execution(class))).await;
    registry.set_middleware(vec![Arc::new(Slow(ms(50)))]);
    for class in ASYNC_CLASSES {
        let name = format!("{class:?}");
        let outcome = registry.dispatch(batch([&*name]).with_deadline(ms(10))).await;
        assert_eq!(end(&outcome.results[0]), (Timeout, Some(ErrorCode::DeadlineExceeded), Executed::No), "{name}");
        let token = toolyard::CancellationToken::new();
        let cancelling = async {
            tokio::time::sleep(ms(10)).await;
            token.cancel();
        };
        let (outcome, ()) = tokio::join!(registry.dispatch(batch([&*name]).with_cancel(token.clone())), cancelling);
        assert_eq!(end(&outcome.results[0]), (Cancelled, Some(ErrorCode::CancelledBatch), Executed::No), "{name}");
    }
    tokio::time::sleep(ms(200)).await;
    assert_eq!(probe.entered(), 0);
}

// === trying again ===

/// A tool that fails like this the first `failures` times.
fn flaky(spec: ToolSpec, failures: usize, failure: ToolFailure) -> (FunctionTool, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let tool = FunctionTool::new(spec, move |_, _| {
        let fails = counted.fetch_add(1, Ordering::SeqCst) < failures;
        std::future::ready(if fails { Err(failure.clone()) } else { Ok(ToolExecutionResult::success("at last")) })
    });
    (tool, calls)
}

fn failure(code: ErrorCode, sent: Sent) -> ToolFailure {
    let mut failure = ToolFailure::new(code, "no luck");
    failure.sent = sent;
    failure
}

fn reading(name: &str) -> ToolSpec {
    let mut spec = ToolSpec::new(name, "");
    spec.effect = Some(Effect::Read);
    spec
}

fn idempotent(name: &str) -> ToolSpec {
    let mut spec = ToolSpec::new(name, "");
    spec.annotation = Some(ToolAnnotation { idempotent_hint: Some(true), ..ToolAnnotation::default() });
    spec
}

#[tokio::test(start_paused = true)]
async fn a_broken_provider_is_tried_again_where_nothing_can_happen_twice() {
    use ErrorCode::{ProviderCrashed, ProviderDown, ProviderProtocol, ToolFailed, ToolUnavailable};
    let plain = || ToolSpec::new("t", "");
    let cases = [
        (reading("t"), true, failure(ProviderProtocol, Sent::Maybe), 2),
        (reading("t"), false, failure(ProviderCrashed, Sent::Yes), 2),
        (idempotent("t"), true, failure(ProviderDown, Sent::Maybe), 2),
        (idempotent("t"), false, failure(ProviderDown, Sent::Maybe), 1),
        (plain(), true, failure(ProviderDown, Sent::No), 2),
        (plain(), true, failure(ProviderDown, Sent::Maybe), 1),
        (reading("t"), true, failure(ToolUnavailable, Sent::No), 1),
        (reading("t"), true, failure(ToolFailed, Sent::Maybe), 1),
        (reading("t"), true, failure(ErrorCode::DeadlineExceeded, Sent::No), 1),
    ];
    for (spec, trusted, failure, expected) in cases {
        let (tool, calls) = flaky(spec, 1, failure.clone());
        let settings = settings(|settings| settings.trusted = trusted);
        let registry = registry_with(toolyard::Limits::default(), settings, [tool]).await;
        registry.add_middleware(Arc::new(Retry::default()));
        let (result, took) = timed(run_one(&registry, "t")).await;
        let case = format!("{:?} {:?} trusted: {trusted}", failure.code, failure.sent);
        assert_eq!(calls.load(Ordering::SeqCst), expected, "{case}");
        let end = (result.status == OK, result.executed == Executed::Yes, took);
        let again = expected == 2;
        assert_eq!(end, (again, again, if again { ms(100) } else { ms(0) }), "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_double_and_attempts_are_bounded_by_number_and_by_the_deadline() {
    let broken = failure(ErrorCode::ProviderProtocol, Sent::Maybe);
    let (tool, calls) = flaky(reading("t"), usize::MAX, broken);
    let registry = registry([tool]).await;
    let retry = Retry { max_attempts: NonZeroU32::new(5).unwrap(), first_wait: ms(10) };
    registry.add_middleware(Arc::new(retry));
    let (result, took) = timed(run_one(&registry, "t")).await;
    assert_eq!((calls.swap(0, Ordering::SeqCst), took), (5, ms(10 + 20 + 40 + 80)));
    assert_eq!(end(&result), (ToolError, Some(ErrorCode::ProviderProtocol), Executed::Unknown));
    let (outcome, took) = timed(registry.dispatch(batch(["t"]).with_deadline(ms(60)))).await;
    assert_eq!((calls.load(Ordering::SeqCst), took), (3, ms(30)), "there is no time for the next wait");
    assert_eq!(statuses(&outcome), [ToolError]);
}

#[tokio::test(start_paused = true)]
async fn a_call_out_of_time_runs_once_and_its_outcome_is_unknown() {
    let probe = Probe::default();
    let tool = hanging("hang", &probe);
    let mut spec = tool.spec().clone().with_timeout(ms(20));
    spec.annotation = Some(ToolAnnotation { idempotent_hint: Some(false), ..ToolAnnotation::default() });
    let visits = probe.clone();
    let tool = FunctionTool::new(spec, move |invocation, context| {
        let visit = visits.enter(&invocation, &context);
        async move {
            let _visit = visit;
            std::future::pending().await
        }
    });
    let registry = registry([tool]).await;
    registry.add_middleware(Arc::new(Retry::default()));
    let result = run_one(&registry, "hang").await;
    assert_eq!(end(&result), (Timeout, Some(ErrorCode::DeadlineExceeded), Executed::Unknown));
    assert!(result.history_content().contains("check before calling it again"), "{}", result.history_content());
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_behind_middleware_is_told_as_such() {
    let tool = FunctionTool::from_fn("panic", "", |_| async { panic!("as told") });
    let registry = registry([tool]).await;
    with(&registry, "look", |call, next| next.run(call));
    assert_eq!(end(&run_one(&registry, "panic").await), (ToolError, Some(ErrorCode::ToolPanicked), Executed::Unknown));
}

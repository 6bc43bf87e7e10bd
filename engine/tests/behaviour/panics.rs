//! A panic costs only its own call, or its own provider.

use std::sync::atomic::Ordering;

use toolyard::CallStatus::{Cancelled, ToolError, Unavailable};
use toolyard::{CallContext, ErrorCode, Executed, FunctionTool, ToolBatch, ToolExecutionResult, ToolInvocation};
use toolyard::{ToolRegistry, ToolSpec};

use crate::fixture::{
    ASYNC_CLASSES, Fault, OK, Probe, Script, batch, call, code_of, codes, hanging, limits, ms, registry,
};
use crate::fixture::{provider, run, run_one, saying, settings, sleeper, state_of, statuses, timed, until};

fn panics_before_its_future(name: &str) -> FunctionTool {
    #[expect(clippy::panic, reason = "that is the behaviour")]
    fn handler(_: ToolInvocation, _: CallContext) -> std::future::Ready<toolyard::InvokeResult> {
        panic!("before the future")
    }
    FunctionTool::new(ToolSpec::new(name, ""), handler)
}

fn panics_in_its_future(name: &str) -> FunctionTool {
    FunctionTool::from_fn(name, "", |_| async {
        tokio::task::yield_now().await;
        panic!("a secret in the future")
    })
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("in the drop")
    }
}

fn panics_when_dropped(name: &str) -> FunctionTool {
    FunctionTool::from_fn(name, "", |_| async {
        let _held = PanicsOnDrop;
        std::future::pending().await
    })
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_or_in_the_future_costs_only_its_call() {
    let probe = Probe::default();
    for class in ASYNC_CLASSES {
        let tools = [
            panics_before_its_future("before").with_execution(class),
            sleeper("sleep", ms(10), &probe).with_execution(class),
            panics_in_its_future("during").with_execution(class),
        ];
        let outcome = run(&registry(tools).await, ["before", "sleep", "during", "sleep"]).await;
        assert_eq!(statuses(&outcome), [ToolError, OK, ToolError, OK], "{class:?}");
        let panicked = Some(ErrorCode::ToolPanicked);
        assert_eq!(codes(&outcome), [panicked, None, panicked, None]);
        assert_eq!(outcome.results[2].executed, Executed::Unknown);
        assert!(!outcome.results[2].history_content().contains("secret"), "panic messages stay inside");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_drop_of_a_cancelled_call_costs_nobody_anything() {
    let probe = Probe::default();
    for class in ASYNC_CLASSES {
        let tools = [
            panics_when_dropped("bad").with_execution(class).map_spec(|spec| spec.with_timeout(ms(10))),
            sleeper("sleep", ms(50), &probe).with_execution(class),
        ];
        let registry = registry(tools).await;
        let (outcome, time) = timed(run(&registry, ["bad", "sleep", "bad"])).await;
        assert_eq!(codes(&outcome)[0], Some(ErrorCode::DeadlineExceeded), "{class:?}");
        assert_eq!((statuses(&outcome)[1], time), (OK, ms(50)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_drop_of_a_finished_call_leaves_its_result() {
    for class in ASYNC_CLASSES {
        let tool = FunctionTool::new(ToolSpec::new("says", ""), |_, _| {
            let held = PanicsOnDrop;
            std::future::poll_fn(move |_| {
                let _keep = &held;
                std::task::Poll::Ready(Ok(ToolExecutionResult::success("said")))
            })
        });
        let result = run_one(&registry([tool.with_execution(class)]).await, "says").await;
        assert_eq!((result.status, result.history_content().as_str()), (OK, "said"), "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_availability_check_hides_and_refuses_only_that_providers_tools() {
    let registry = registry([saying("good", "hi")]).await;
    Script::new("bad", ["broken"]).panics_in(Fault::Availability).launch(&registry, settings(|_| ())).await;
    let listed = registry.list_tools(&toolyard::ToolExecutionContext::default());
    assert_eq!(listed.iter().map(|tool| &*tool.model_name).collect::<Vec<_>>(), ["good"]);
    let outcome = run(&registry, ["broken", "good"]).await;
    assert_eq!(statuses(&outcome), [Unavailable, OK]);
    assert_eq!(codes(&outcome)[0], Some(ErrorCode::ToolUnavailable));
    assert_eq!(outcome.results[0].executed, Executed::No);
}

#[tokio::test(start_paused = true)]
async fn panics_in_start_and_listing_cost_only_that_provider() {
    let registry = registry([saying("good", "hi")]).await;
    let listing = Script::new("listing", ["a"]).panics_in(Fault::Listing);
    let starting = Script::new("starting", ["b"]).starts_with([crate::fixture::Start::Panics]);
    for script in [&listing, &starting] {
        script.launch(&registry, settings(|_| ())).await;
    }
    assert_eq!(state_of(&registry, "listing"), toolyard::ProviderState::Down);
    until("the one that only panics once comes up", || registry.has_tool("b")).await;
    assert_eq!(statuses(&run(&registry, ["good", "b"]).await), [OK, OK]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_close_ends_the_provider_all_the_same() {
    for fault in [Fault::CloseCall, Fault::CloseFuture] {
        let registry = registry([saying("good", "hi")]).await;
        let script = Script::new("bad", ["a"]).panics_in(fault);
        script.launch(&registry, settings(|_| ())).await;
        registry.unregister("bad").await.unwrap();
        assert_eq!(statuses(&run(&registry, ["good"]).await), [OK]);
        registry.close(ms(0)).await;
        until("it is dropped", || script.dropped.load(Ordering::SeqCst) == 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_drop_of_a_provider_costs_no_batch_and_no_registry() {
    let registry = registry([saying("good", "hi")]).await;
    let script = Script::new("bad", ["hang", "a"]).panics_in(Fault::Drop);
    script.launch(&registry, settings(|_| ())).await;
    // This batch is the last to hold the table, and so the provider, that the crash makes obsolete.
    let held = tokio::spawn({
        let registry = registry.clone();
        async move { registry.dispatch(batch(["hang", "good"])).await }
    });
    until("the batch runs", || crate::fixture::status_of(&registry, "bad").in_flight == 1).await;
    script.crash();
    assert_eq!(statuses(&held.await.unwrap()), [Unavailable, OK]);
    until("the next incarnation is up", || script.attempts() == 2).await;
    registry.reload("bad").await.unwrap();
    registry.unregister("bad").await.unwrap();
    registry.register(provider("q", [saying("new", "hi")]), settings(|_| ())).await.unwrap();
    assert_eq!(statuses(&run(&registry, ["good", "new"]).await), [OK, OK]);
    registry.close(ms(0)).await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_whose_kind_panics_is_not_taken_and_harms_nobody() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let bad = Script::new("bad", ["a"]).panics_in(Fault::Kind);
    assert!(registry.launch(bad.connector(), settings(|_| ())).await.is_err());
    registry.register(provider("p", [saying("good", "hi")]), settings(|_| ())).await.unwrap();
    assert_eq!(run_one(&registry, "good").await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_waiting_for_events_is_a_crash_of_that_provider() {
    let registry = registry([saying("good", "hi")]).await;
    let script = Script::new("bad", ["a"]).panics_in(Fault::NextEvent);
    script.launch(&registry, settings(|_| ())).await;
    until("it is tried again", || script.attempts() >= 2).await;
    assert_eq!(run_one(&registry, "good").await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_batch_whose_tools_panic_in_their_drop_is_still_cancelled() {
    let probe = Probe::default();
    for class in ASYNC_CLASSES {
        let registry =
            registry([panics_when_dropped("bad"), hanging("hang", &probe)].map(|t| t.with_execution(class))).await;
        let handle = registry.start(ToolBatch::new(vec![call("c1", "bad"), call("c2", "hang")])).await.unwrap();
        tokio::time::sleep(ms(10)).await;
        handle.cancel();
        let outcome = handle.outcome().await.unwrap();
        assert_eq!(statuses(&outcome), [Cancelled, Cancelled]);
        assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::CancelledBatch));
    }
}

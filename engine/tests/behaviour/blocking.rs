//! Handlers that block their thread. Real time: tokio's clock does not move on while the blocking pool is at work.

use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex};

use toolyard::CallStatus::{Cancelled, Timeout, ToolError};
use toolyard::{CancellationToken, Executed, ExecutionClass, FunctionTool, ToolExecutionResult, ToolSpec};

use crate::fixture::{
    HANG, OK, Probe, batch, code_of, failing, hanging, ms, registry, run, saying, sleeper, statuses, until,
};

/// Holds every thread that comes to it until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let (open, changed) = &*self.0;
        // A test that forgets to open it must fail, not hang.
        let (open, _) = changed.wait_timeout_while(open.lock().unwrap(), HANG, |open| !*open).unwrap();
        assert!(*open, "nobody opened the gate");
    }
}

/// A blocking tool that stays inside until the gate is open.
fn gated(name: &str, gate: &Gate, probe: &Probe) -> FunctionTool {
    let (gate, probe) = (gate.clone(), probe.clone());
    FunctionTool::blocking(ToolSpec::new(name, ""), move |invocation, context| {
        let visit = probe.enter(&invocation, &context);
        gate.wait();
        Ok(ToolExecutionResult::success(visit.finish()))
    })
}

fn one_at_a_time(tool: FunctionTool) -> FunctionTool {
    tool.map_spec(|spec| spec.with_max_in_flight(NonZeroUsize::new(1).unwrap()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_does_not_delay_a_fast_one() {
    let (gate, slow, fast) = (Gate::default(), Probe::default(), Probe::default());
    let registry = registry([gated("block", &gate, &slow), sleeper("fast", ms(10), &fast)]).await;
    let mut handle = registry.start(batch(["block", "fast", "block"])).await.unwrap();
    loop {
        // The gate only opens once the fast call has settled: were it delayed, this would never end.
        match handle.events().next().await.unwrap() {
            toolyard::BatchEvent::CallSettled { index, status, .. } => {
                assert_eq!((index, status), (1, OK));
                break;
            }
            _ => continue,
        }
    }
    gate.open();
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [OK, OK, OK]);
}

#[tokio::test]
async fn blocking_calls_end_in_call_order_beside_others_and_run_at_once() {
    let (gate, probe) = (Gate::default(), Probe::default());
    let registry = registry([gated("block", &gate, &probe), saying("say", "hi"), failing("fail")]).await;
    let opener = {
        let (gate, probe) = (gate.clone(), probe.clone());
        async move {
            until("all are inside", || probe.inside() == 3).await;
            gate.open();
        }
    };
    let (outcome, ()) = tokio::join!(run(&registry, ["block", "say", "block", "fail", "block"]), opener);
    assert_eq!(statuses(&outcome), [OK, OK, OK, ToolError, OK]);
}

#[tokio::test]
async fn a_panic_in_a_blocking_handler_costs_only_its_call() {
    let panics = FunctionTool::blocking(ToolSpec::new("panic", ""), |_, _| panic!("in the handler"));
    let registry = registry([panics, saying("say", "hi")]).await;
    let outcome = run(&registry, ["panic", "say"]).await;
    assert_eq!(statuses(&outcome), [ToolError, OK]);
    assert_eq!(code_of(&outcome.results[0]), Some(toolyard::ErrorCode::ToolPanicked));
}

#[tokio::test]
async fn a_blocking_handler_that_ignores_cancellation_does_not_hold_its_batch() {
    let (gate, probe) = (Gate::default(), Probe::default());
    let registry = registry([gated("block", &gate, &probe)]).await;
    let handle = registry.start(batch(["block"])).await.unwrap();
    until("it is inside", || probe.inside() == 1).await;
    handle.cancel();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!((statuses(&outcome), outcome.results[0].executed), (vec![Cancelled], Executed::Unknown));
    assert_eq!((probe.inside(), probe.told()), (1, 1));
    gate.open();
    until("it has left", || probe.inside() == 0).await;
}

#[tokio::test]
async fn a_queued_blocking_call_that_was_given_up_never_runs() {
    let (gate, probe) = (Gate::default(), Probe::default());
    let registry = registry([one_at_a_time(gated("block", &gate, &probe))]).await;
    let first = registry.start(batch(["block"])).await.unwrap();
    until("the first is inside", || probe.inside() == 1).await;
    let token = CancellationToken::new();
    let second = registry.start(batch(["block"]).with_cancel(token.clone())).await.unwrap();
    let third = registry.dispatch(batch(["block"]).with_deadline(ms(20))).await;
    assert_eq!((statuses(&third), third.results[0].executed), (vec![Timeout], Executed::No));
    token.cancel();
    let second = second.outcome().await.unwrap();
    assert_eq!((statuses(&second), second.results[0].executed), (vec![Cancelled], Executed::No));

    gate.open();
    assert_eq!(statuses(&first.outcome().await.unwrap()), [OK]);
    // A call made now is behind the two that were given up; when it has run, they are past their turn.
    assert_eq!(statuses(&run(&registry, ["block"]).await), [OK]);
    assert_eq!(probe.entered(), 2);
}

#[test]
fn queued_blocking_calls_take_no_thread_from_other_tools() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build().unwrap();
    runtime.block_on(async {
        let (gate, probe) = (Gate::default(), Probe::default());
        let other = FunctionTool::blocking(ToolSpec::new("other", ""), |_, _| Ok(ToolExecutionResult::success("done")));
        let registry = registry([one_at_a_time(gated("block", &gate, &probe)), other]).await;
        let stuck = registry.start(batch(["block"; 8])).await.unwrap();
        until("one is inside", || probe.inside() == 1).await;
        let outcome = registry.dispatch(batch(["other"]).with_deadline(HANG)).await;
        assert_eq!(statuses(&outcome), [OK]);
        gate.open();
        assert_eq!(statuses(&stuck.outcome().await.unwrap()), [OK; 8]);
        assert_eq!((probe.most_inside(), probe.order().len()), (1, 8));
    });
}

#[tokio::test]
async fn an_async_handler_on_the_blocking_pool_is_dropped_when_it_is_cancelled() {
    let probe = Probe::default();
    let registry = registry([hanging("hang", &probe).with_execution(ExecutionClass::Blocking)]).await;
    let handle = registry.start(batch(["hang"; 4])).await.unwrap();
    until("all are inside", || probe.inside() == 4).await;
    handle.cancel();
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [Cancelled; 4]);
    until("all are dropped", || probe.dropped() == 4).await;
}

#[tokio::test]
async fn a_blocking_handler_can_see_that_it_is_cancelled() {
    let probe = Probe::default();
    let counter = probe.clone();
    let tool = FunctionTool::blocking(ToolSpec::new("loop", ""), move |invocation, context| {
        let visit = counter.enter(&invocation, &context);
        while !context.is_cancelled() {
            std::thread::sleep(ms(1));
        }
        Ok(ToolExecutionResult::success(visit.finish()))
    });
    let registry = registry([tool]).await;
    let handle = registry.start(batch(["loop"])).await.unwrap();
    until("it is inside", || probe.inside() == 1).await;
    handle.cancel();
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [Cancelled]);
    until("the loop has ended", || probe.finished() == 1).await;
}

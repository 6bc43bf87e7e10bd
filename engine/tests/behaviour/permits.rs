//! One at a time, first come first served, with a bounded queue.

use std::num::NonZeroUsize;

use toolyard::CallStatus::{Overloaded, Timeout};
use toolyard::{ErrorCode, Executed, ExecutionClass, FunctionTool, Limits, ProviderSettings, ToolRegistry};

use crate::fixture::{ASYNC_CLASSES, OK, Probe, batch, code_of, ms, registry, registry_with, run, settings, sleeper};
use crate::fixture::{saying, statuses, timed, until};

const ONE: NonZeroUsize = NonZeroUsize::MIN;

fn one_at_a_time(probe: &Probe, class: ExecutionClass) -> FunctionTool {
    sleeper("sleep", ms(100), probe).with_execution(class).map_spec(|spec| spec.with_max_in_flight(ONE))
}

fn serial() -> ProviderSettings {
    settings(|settings| settings.max_in_flight = Some(ONE))
}

async fn in_order(registry: &ToolRegistry, probe: &Probe) {
    let (outcome, time) = timed(run(registry, ["sleep"; 6])).await;
    assert_eq!((statuses(&outcome), time), (vec![OK; 6], ms(600)));
    assert_eq!(probe.order(), ["c1", "c2", "c3", "c4", "c5", "c6"]);
    assert_eq!(probe.most_inside(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_per_tool_is_serial_in_call_order() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        in_order(&registry([one_at_a_time(&probe, class)]).await, &probe).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_per_provider_is_serial_over_its_tools() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let tools = ["sleep", "other"].map(|name| sleeper(name, ms(100), &probe).with_execution(class));
        let registry = registry_with(Limits::default(), serial(), tools).await;
        in_order(&registry, &probe).await;
        let (_, time) = timed(run(&registry, ["sleep", "other", "sleep"])).await;
        assert_eq!((time, probe.most_inside()), (ms(300), 1), "{class:?}");
    }
}

/// Several threads start tasks in any order; the queue must not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_is_in_call_order_on_many_threads_too() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let tool = sleeper("sleep", ms(0), &probe).with_execution(class).map_spec(|spec| spec.with_max_in_flight(ONE));
        let registry = registry([tool]).await;
        // In a task of a worker, whose newest task runs next.
        let outcome = tokio::spawn(async move { run(&registry, ["sleep"; 30]).await }).await.unwrap();
        let expected: Vec<_> = outcome.results.iter().map(|result| result.call_id.as_str().to_owned()).collect();
        assert_eq!(probe.order(), expected, "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn batches_take_turns_in_the_order_in_which_they_came() {
    let probe = Probe::default();
    let registry = registry([one_at_a_time(&probe, ExecutionClass::Task)]).await;
    let first = registry.start(batch(["sleep"; 2])).await.unwrap();
    tokio::time::sleep(ms(10)).await;
    let (second, time) = timed(run(&registry, ["sleep"])).await;
    assert_eq!((statuses(&second), time), (vec![OK], ms(290)));
    assert_eq!(statuses(&first.outcome().await.unwrap()), [OK; 2]);
}

#[tokio::test(start_paused = true)]
async fn other_tools_do_not_wait_for_one_that_is_busy() {
    let probe = Probe::default();
    let registry = registry([one_at_a_time(&probe, ExecutionClass::Io), saying("say", "hi")]).await;
    let outcome = run(&registry, ["sleep", "sleep", "say"]).await;
    assert_eq!(outcome.results[2].duration, ms(0));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_the_calls_beyond_it() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let short = settings(|settings| (settings.max_in_flight, settings.max_queued) = (Some(ONE), 2));
        let tool = sleeper("sleep", ms(100), &probe).with_execution(class);
        let registry = registry_with(Limits::default(), short, [tool]).await;
        let outcome = run(&registry, ["sleep"; 5]).await;
        assert_eq!(statuses(&outcome), [OK, OK, OK, Overloaded, Overloaded], "{class:?}");
        assert_eq!(code_of(&outcome.results[4]), Some(ErrorCode::LimitInFlight));
        assert_eq!(outcome.results[4].executed, Executed::No);
        assert_eq!(statuses(&run(&registry, ["sleep"; 3]).await), [OK; 3], "the queue is empty again");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_leaves_the_queue_gives_its_place_to_the_next() {
    let probe = Probe::default();
    let registry = registry([one_at_a_time(&probe, ExecutionClass::Task)]).await;
    let holder = registry.start(batch(["sleep"])).await.unwrap();
    until("it is inside", || probe.inside() == 1).await;
    let impatient = registry.dispatch(batch(["sleep"; 2]).with_deadline(ms(20)));
    assert_eq!(statuses(&impatient.await), [Timeout; 2]);
    let (patient, _) = timed(run(&registry, ["sleep"])).await;
    assert_eq!((statuses(&patient), probe.entered()), (vec![OK], 2));
    holder.outcome().await.unwrap();
}

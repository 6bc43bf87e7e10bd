//! Deadline = min(batch, tool). A default never shortens a tool's own.

use std::num::NonZeroUsize;
use std::time::Duration;

use toolyard::CallStatus::Timeout;
use toolyard::{ErrorCode, Executed, FunctionTool, ToolRegistry};

use crate::fixture::{
    ASYNC_CLASSES, HOUR, OK, Probe, batch, call, code_of, hanging, limits, ms, registry, registry_with,
};
use crate::fixture::{run, run_one, settings, sleeper, statuses, timed};

const SECOND: Duration = Duration::from_secs(1);

fn with_timeout(tool: FunctionTool, timeout: Duration) -> FunctionTool {
    tool.map_spec(|spec| spec.with_timeout(timeout))
}

#[tokio::test(start_paused = true)]
async fn a_tool_has_its_own_deadline_and_the_default_cuts_no_longer_one() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let a = with_timeout(hanging("a", &probe), ms(100)).with_execution(class);
        let b = with_timeout(sleeper("b", 70 * SECOND, &probe), 120 * SECOND).with_execution(class);
        let registry = registry([a, b]).await;
        let (outcome, time) = timed(run(&registry, ["a", "b"])).await;
        assert_eq!(statuses(&outcome), [Timeout, OK], "{class:?}");
        assert_eq!(outcome.results[0].duration, ms(100));
        // The expiry of one call must not make the batch miss the end of another.
        assert_eq!(time, 70 * SECOND, "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_deadline_has_its_providers_or_the_engines() {
    let probe = Probe::default();
    let own = settings(|settings| settings.tool_timeout = Some(3 * SECOND));
    let registry = registry_with(limits(|_| ()), own, [hanging("hang", &probe)]).await;
    assert_eq!(timed(run_one(&registry, "hang")).await.1, 3 * SECOND);

    let default = limits(|limits| limits.tool_timeout_default = 2 * SECOND);
    let registry = registry_with(default, settings(|_| ()), [hanging("hang", &probe)]).await;
    assert_eq!(timed(run_one(&registry, "hang")).await.1, 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_batch_ends_every_open_call() {
    let probe = Probe::default();
    let registry = registry([sleeper("fast", ms(10), &probe), with_timeout(hanging("hang", &probe), HOUR)]).await;
    let (outcome, time) = timed(registry.dispatch(batch(["hang", "fast", "hang"]).with_deadline(ms(500)))).await;
    assert_eq!((statuses(&outcome), time), (vec![Timeout, OK, Timeout], ms(500)));
}

#[tokio::test(start_paused = true)]
async fn the_earlier_of_batch_and_tool_holds() {
    let probe = Probe::default();
    let tools = [with_timeout(hanging("short", &probe), ms(100)), with_timeout(hanging("long", &probe), HOUR)];
    let registry = registry(tools).await;
    let (outcome, time) = timed(registry.dispatch(batch(["long", "short"]).with_deadline(ms(300)))).await;
    let durations: Vec<_> = outcome.results.iter().map(|result| result.duration).collect();
    assert_eq!((durations, time), (vec![ms(300), ms(100)], ms(300)));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_says_that_the_outcome_is_unknown_and_the_tool_ran_once() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let tool = with_timeout(hanging("hang", &probe), ms(100)).with_execution(class);
        let result = run_one(&registry([tool]).await, "hang").await;
        assert_eq!((result.status, code_of(&result)), (Timeout, Some(ErrorCode::DeadlineExceeded)));
        assert!(result.history_content().contains("outcome is unknown"), "{}", result.history_content());
        assert_eq!(result.executed, Executed::Unknown);
        assert_eq!(serde_json::to_value(&result).unwrap()["executed"], "unknown");
        crate::fixture::until("the tool is told", || probe.told() == 1 && probe.dropped() == 1).await;
        assert_eq!(probe.entered(), 1, "{class:?}");
    }
}

async fn one_at_a_time(probe: &Probe) -> ToolRegistry {
    let one = NonZeroUsize::new(1).unwrap();
    let tool = sleeper("sleep", SECOND, probe).map_spec(|spec| spec.with_max_in_flight(one));
    registry([tool]).await
}

#[tokio::test(start_paused = true)]
async fn a_queued_call_that_times_out_never_ran() {
    let probe = Probe::default();
    let registry = one_at_a_time(&probe).await;
    let outcome = registry.dispatch(batch(["sleep"; 3]).with_deadline(ms(1500))).await;
    assert_eq!(statuses(&outcome), [OK, Timeout, Timeout]);
    let executed: Vec<_> = outcome.results.iter().map(|result| result.executed).collect();
    assert_eq!(executed, [Executed::Yes, Executed::Unknown, Executed::No]);
    let said = outcome.results[2].history_content();
    assert!(said.contains("could not start") && !said.contains("unknown"), "{said}");
    tokio::time::sleep(10 * SECOND).await;
    assert_eq!(probe.order(), ["c1", "c2"]);
}

#[tokio::test(start_paused = true)]
async fn the_tool_sees_the_deadline_that_holds() {
    let tool = FunctionTool::from_fn_with_context("left", "", |context, _| async move {
        Ok(format!("{:?}", context.deadline() - tokio::time::Instant::now()))
    });
    let registry = registry([with_timeout(tool, 5 * SECOND)]).await;
    assert_eq!(run_one(&registry, "left").await.history_content(), "5s");
    let batch = toolyard::ToolBatch::new(vec![call("c1", "left")]).with_deadline(2 * SECOND);
    assert_eq!(registry.dispatch(batch).await.results[0].history_content(), "2s");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_beyond_all_clocks_is_no_deadline() {
    let probe = Probe::default();
    let registry = registry([with_timeout(sleeper("sleep", HOUR, &probe), Duration::MAX)]).await;
    let outcome = registry.dispatch(batch(["sleep"]).with_deadline(Duration::MAX)).await;
    assert_eq!(statuses(&outcome), [OK]);
}

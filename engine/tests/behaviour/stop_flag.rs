//! The stop flag of a batch: the OR over its successes, once all calls have ended.

use serde_json::{Value, json};
use toolyard::CallStatus::ToolError;
use toolyard::{BatchOutcome, FunctionTool, ToolExecutionResult};

use crate::fixture::{OK, Probe, giving, ms, registry, run, saying, sleeper, statuses, timed};

fn stopping(name: &str) -> FunctionTool {
    giving(name, || ToolExecutionResult::success("done").stopping())
}

fn failing_and_stopping(name: &str) -> FunctionTool {
    giving(name, || ToolExecutionResult::failure("no").stopping())
}

fn returning_json(name: &str, value: Value) -> FunctionTool {
    FunctionTool::from_json_fn(name, "", Vec::new(), move |_| std::future::ready(Ok(value.clone())))
}

fn asked(outcome: &BatchOutcome) -> (bool, Vec<&str>) {
    (outcome.stop, outcome.stop_requested_by.iter().map(|id| id.as_str()).collect())
}

#[tokio::test(start_paused = true)]
async fn any_success_that_asks_stops_the_run_after_the_whole_batch() {
    let probe = Probe::default();
    let registry = registry([stopping("stop"), sleeper("sleep", ms(100), &probe), saying("say", "hi")]).await;
    let (outcome, time) = timed(run(&registry, ["stop", "sleep", "say", "stop"])).await;
    assert_eq!(asked(&outcome), (true, vec!["c1", "c4"]));
    assert_eq!((statuses(&outcome), time, probe.finished()), (vec![OK; 4], ms(100), 1));
    assert_eq!(asked(&run(&registry, ["say", "sleep"]).await), (false, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_failure_cannot_stop_the_run() {
    let registry = registry([failing_and_stopping("fail"), saying("say", "hi")]).await;
    let outcome = run(&registry, ["fail", "say"]).await;
    assert_eq!((statuses(&outcome), asked(&outcome)), (vec![ToolError, OK], (false, vec![])));
}

#[tokio::test(start_paused = true)]
async fn a_flag_that_is_no_boolean_fails_its_own_call_only() {
    let registry = registry([
        returning_json("right", json!({"content": "done", "stop_after_execution": true})),
        returning_json("wrong", json!({"content": "done", "stop_after_execution": "yes"})),
    ])
    .await;
    let outcome = run(&registry, ["wrong", "right"]).await;
    assert_eq!((statuses(&outcome), asked(&outcome)), (vec![ToolError, OK], (true, vec!["c2"])));
    assert!(outcome.results[0].history_content().contains("stop_after_execution"));
    assert_eq!(serde_json::to_value(&outcome).unwrap()["stop_requested_by"], json!(["c2"]));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_cannot_stop_the_run() {
    let late = FunctionTool::from_json_fn("late", "", Vec::new(), |_| async {
        tokio::time::sleep(ms(100)).await;
        Ok(json!({"stop_after_execution": true}))
    });
    let registry = registry([late]).await;
    let outcome = registry.dispatch(crate::fixture::batch(["late"]).with_deadline(ms(50))).await;
    assert_eq!(asked(&outcome), (false, vec![]));
}

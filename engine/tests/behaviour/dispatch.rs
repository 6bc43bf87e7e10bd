//! One result per call, in call order, all calls at once.

use toolyard::CallStatus::ToolError;
use toolyard::{CallStatus, ErrorCode, Executed, ExecutionClass};

use crate::fixture::{ASYNC_CLASSES, OK, Probe, batch, call, failing, hanging, ms, registry, run, saying, sleeper};
use crate::fixture::{codes, run_one, statuses, timed};

#[tokio::test(start_paused = true)]
async fn results_come_in_call_order_whatever_the_class_and_the_speed() {
    let probe = Probe::default();
    for class in ASYNC_CLASSES {
        let tools = [("slow", 30), ("mid", 20), ("fast", 10)]
            .map(|(name, time)| sleeper(name, ms(time), &probe).with_execution(class));
        let outcome = run(&registry(tools).await, ["slow", "fast", "mid", "fast"]).await;
        let said: Vec<_> = outcome.results.iter().map(|result| (result.index, result.history_content())).collect();
        let expected = ["slow", "fast", "mid", "fast"].map(str::to_owned).into_iter().enumerate();
        assert_eq!(said, expected.collect::<Vec<_>>(), "{class:?}");
        assert_eq!(statuses(&outcome), [OK; 4]);
    }
}

#[tokio::test(start_paused = true)]
async fn classes_and_refused_calls_mix_in_one_batch() {
    let probe = Probe::default();
    let [io, task, inline] = ASYNC_CLASSES;
    let tools = [
        sleeper("io", ms(30), &probe).with_execution(io),
        sleeper("task", ms(20), &probe).with_execution(task),
        sleeper("inline", ms(10), &probe).with_execution(inline),
        failing("failing"),
    ];
    let calls = ["nothing", "task", "failing", "io", "nowhere", "inline", "task", "nobody"];
    let outcome = run(&registry(tools).await, calls).await;
    let unknown = CallStatus::UnknownTool;
    assert_eq!(statuses(&outcome), [unknown, OK, ToolError, OK, unknown, OK, OK, unknown]);
    let ids: Vec<_> = outcome.results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"]);
    assert!(outcome.results.iter().enumerate().all(|(index, result)| result.index == index));
}

#[tokio::test(start_paused = true)]
async fn a_failure_costs_no_sibling() {
    let probe = Probe::default();
    for class in ASYNC_CLASSES {
        let tools = [
            sleeper("c1", ms(50), &probe).with_execution(class),
            failing("c2").with_execution(class),
            sleeper("c3", ms(200), &probe).with_execution(class),
        ];
        let registry = registry(tools).await;
        let (outcome, time) = timed(run(&registry, ["c1", "c2", "c3"])).await;
        assert_eq!(statuses(&outcome), [OK, ToolError, OK], "{class:?}");
        assert!(time < ms(300), "{time:?}");
        assert_eq!(outcome.results[1].error.as_ref().unwrap().message, "no luck");
    }
    assert_eq!((probe.finished(), probe.told()), (6, 0));
}

#[tokio::test(start_paused = true)]
async fn eight_calls_take_as_long_as_one() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let registry = registry([sleeper("sleep", ms(100), &probe).with_execution(class)]).await;
        let (outcome, time) = timed(run(&registry, ["sleep"; 8])).await;
        assert_eq!(statuses(&outcome), [OK; 8]);
        assert_eq!(time, ms(100), "{class:?}");
        assert_eq!(probe.most_inside(), 8);
    }
}

#[tokio::test(start_paused = true)]
async fn durations_are_those_of_each_call() {
    let probe = Probe::default();
    for class in ASYNC_CLASSES {
        let tools =
            [("slow", 200), ("fast", 50)].map(|(name, time)| sleeper(name, ms(time), &probe).with_execution(class));
        let outcome = run(&registry(tools).await, ["slow", "fast"]).await;
        let durations: Vec<_> = outcome.results.iter().map(|result| result.duration).collect();
        assert_eq!(durations, [ms(200), ms(50)], "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_without_calls_has_no_results() {
    let outcome = run(&registry([]).await, []).await;
    assert!(outcome.results.is_empty() && !outcome.stop);
}

#[tokio::test(start_paused = true)]
async fn batches_do_not_wait_for_each_other() {
    let probe = Probe::default();
    let registry = registry([hanging("hang", &probe), saying("say", "hi")]).await;
    let stuck = tokio::spawn({
        let registry = registry.clone();
        async move { run(&registry, ["hang"]).await }
    });
    crate::fixture::until("the first batch hangs", || probe.inside() == 1).await;
    let (result, time) = timed(run_one(&registry, "say")).await;
    assert_eq!((result.status, time), (OK, ms(0)));
    stuck.abort();
}

#[tokio::test(start_paused = true)]
async fn repeated_and_missing_ids_still_give_one_result_each() {
    let registry = registry([saying("say", "hi")]).await;
    let outcome =
        registry.dispatch(toolyard::ToolBatch::new(vec![call("a", "say"), call("a", "say"), call("", "say")])).await;
    let ids: Vec<_> = outcome.results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["a", "call_2", "call_3"]);
}

#[tokio::test(start_paused = true)]
async fn a_result_says_where_its_call_went() {
    let result = run_one(&registry([saying("say", "hi")]).await, "say").await;
    let origin = result.origin.clone().unwrap();
    assert_eq!((origin.tool_id.as_str(), &*origin.provider, &*result.tool), ("p.say", "p", "say"));
    assert_eq!(result.executed, Executed::Yes);
    let document = serde_json::to_value(&result).unwrap();
    assert_eq!((&document["tool_id"], &document["executed"]), (&"p.say".into(), &true.into()));
}

/// Real time: the budget is about the thread that the batch runs on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_take_long_in_place_send_the_rest_to_tasks() {
    let threads = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&threads);
    let busy = crate::fixture::giving("busy", move || {
        seen.lock().unwrap().push(tokio::task::try_id().is_some());
        std::thread::sleep(ms(2));
        toolyard::ToolExecutionResult::success("")
    });
    let registry = registry([busy.with_execution(ExecutionClass::Inline)]).await;
    // The test's own future is no task, so a task id tells a call in a task from one in place.
    let outcome = run(&registry, ["busy"; 4]).await;
    assert_eq!(codes(&outcome), [None; 4]);
    let mut in_tasks = threads.lock().unwrap().clone();
    in_tasks.sort_unstable();
    assert_eq!(in_tasks, [false, true, true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_breaks_decides_the_code_and_whether_the_tool_ran() {
    use toolyard::{FunctionTool, ToolFailure, ToolSpec};
    let broken = |name: &str, failure: ToolFailure| {
        FunctionTool::new(ToolSpec::new(name, ""), move |_, _| std::future::ready(Err(failure.clone())))
    };
    let registry = registry([
        broken("before", ToolFailure::not_sent(ErrorCode::ProviderDown, "nobody there")),
        broken("during", ToolFailure::new(ErrorCode::ProviderProtocol, "garbled")),
    ])
    .await;
    let outcome = registry.dispatch(batch(["before", "during"])).await;
    assert_eq!(statuses(&outcome), [CallStatus::Unavailable, ToolError]);
    assert_eq!(codes(&outcome), [Some(ErrorCode::ProviderDown), Some(ErrorCode::ProviderProtocol)]);
    assert_eq!(outcome.results.iter().map(|r| r.executed).collect::<Vec<_>>(), [Executed::No, Executed::Unknown]);
}

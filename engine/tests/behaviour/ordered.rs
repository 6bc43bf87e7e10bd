//! Calls that run one after another, in call order, beside those that do not; and what asks to stop only if all went well.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolyard::CallStatus::{Cancelled, Timeout, ToolError, Unavailable};
use toolyard::{
    CancellationToken, Executed, ExecutionClass, FunctionTool, Policy, ToolBatch, ToolExecutionResult, ToolNames,
    ToolRegistry, ToolSpec,
};

use crate::fixture::{
    ASYNC_CLASSES, OK, Probe, Script, call_with, giving, ms, no_task_is_left, registry, run, settings, sleeper,
    statuses, timed, until,
};

/// What was entered (`+`) and left (`-`), in that order.
type Log = Arc<Mutex<Vec<String>>>;

/// A tool that logs its calls, takes the milliseconds in `ms` and ends as `act` says.
fn logging(name: &str, class: ExecutionClass, log: &Log) -> FunctionTool {
    let log = Arc::clone(log);
    FunctionTool::new(ToolSpec::new(name, ""), move |invocation, _| {
        let (log, id) = (Arc::clone(&log), invocation.call_id().to_string());
        let arguments = invocation.arguments().value().clone();
        async move {
            log.lock().unwrap().push(format!("+{id}"));
            tokio::time::sleep(ms(arguments["ms"].as_u64().unwrap_or(0))).await;
            log.lock().unwrap().push(format!("-{id}"));
            match arguments["act"].as_str() {
                Some("fail") => Ok(ToolExecutionResult::failure("no luck")),
                Some("panic") => panic!("as told"),
                _ => Ok(ToolExecutionResult::success("done")),
            }
        }
    })
    .with_execution(class)
}

fn ordered(mut spec: ToolSpec) -> ToolSpec {
    spec.flags.ordered = true;
    spec
}

fn order(registry: &ToolRegistry, tools: &str) {
    let mut policy = Policy::default();
    policy.ordered = ToolNames::new([tools]);
    registry.set_policy(policy);
}

/// A batch of calls to `tool`, with the ids `0`, `1` and so on.
fn calls<'a>(tool: impl Fn(usize) -> &'a str, arguments: &[Value]) -> ToolBatch {
    let calls = arguments.iter().enumerate();
    ToolBatch::new(calls.map(|(index, value)| call_with(&index.to_string(), tool(index), value)).collect())
}

#[tokio::test(start_paused = true)]
async fn ordered_calls_run_one_after_another_and_the_others_beside_them() {
    for class in ASYNC_CLASSES {
        let log = Log::default();
        let registry = registry([logging("one", class, &log), logging("free", class, &log)]).await;
        order(&registry, "p.one");
        let arguments = [30, 50, 10, 40, 20].map(|ms| json!({"ms": ms}));
        let batch = calls(|index| if index % 2 == 0 { "one" } else { "free" }, &arguments);
        let (outcome, took) = timed(registry.dispatch(batch)).await;
        assert_eq!(statuses(&outcome), [OK; 5], "{class:?}");
        assert_eq!(took, ms(60), "{class:?}: 30, 10 and 20 after one another");
        let of_ordered = |line: &&String| ["0", "2", "4"].contains(&&line[1..]);
        let log: Vec<String> = log.lock().unwrap().iter().filter(of_ordered).cloned().collect();
        assert_eq!(log, ["+0", "-0", "+2", "-2", "+4", "-4"], "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_declares_itself_ordered_and_all_may_be() {
    let log = Log::default();
    let quick = |name: &str| logging(name, ExecutionClass::Task, &log);
    let declared = FunctionTool::new(ordered(ToolSpec::new("declared", "")), |_, _| async {
        tokio::time::sleep(ms(20)).await;
        Ok(ToolExecutionResult::success("done"))
    });
    let registry = registry([declared, quick("a"), quick("b")]).await;
    let (outcome, took) = timed(run(&registry, ["declared", "declared"])).await;
    assert_eq!((statuses(&outcome), took), (vec![OK; 2], ms(40)));
    order(&registry, "*");
    let batch = calls(|index| ["a", "b"][index % 2], &[10, 20, 30].map(|ms| json!({"ms": ms})));
    assert_eq!(timed(registry.dispatch(batch)).await.1, ms(60));
}

#[tokio::test(start_paused = true)]
async fn the_next_one_starts_whatever_became_of_the_one_before() {
    for class in ASYNC_CLASSES {
        let log = Log::default();
        let mut slow = ToolSpec::new("slow", "");
        slow.timeout = Some(ms(15));
        let slow = FunctionTool::new(slow, |_, _| std::future::pending()).with_execution(class);
        let registry = registry([logging("one", class, &log), slow]).await;
        order(&registry, "*");
        let arguments = [json!({"act": "fail"}), json!({"act": "panic"}), json!({}), json!({"ms": 10})];
        let batch = calls(|index| if index == 2 { "slow" } else { "one" }, &arguments);
        let (outcome, took) = timed(registry.dispatch(batch)).await;
        assert_eq!(statuses(&outcome), [ToolError, ToolError, Timeout, OK], "{class:?}");
        assert_eq!(took, ms(25), "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiting_calls_own_time_begins_when_it_starts_and_the_batchs_holds_throughout() {
    let probe = Probe::default();
    let mut own = sleeper("sleep", ms(30), &probe);
    own = FunctionTool::new(own.spec().clone().with_timeout(ms(40)), |_, context| async move {
        let left = context.deadline().duration_since(tokio::time::Instant::now());
        tokio::time::sleep(ms(30)).await;
        Ok(ToolExecutionResult::success(left.as_millis().to_string()))
    });
    let registry = registry([own]).await;
    order(&registry, "*");
    let outcome = run(&registry, ["sleep"; 4]).await;
    assert_eq!(statuses(&outcome), [OK; 4]);
    assert!(outcome.results.iter().all(|result| result.history_content() == "40"));
    let tight = crate::fixture::batch(["sleep"; 4]).with_deadline(ms(70));
    let (outcome, took) = timed(registry.dispatch(tight)).await;
    assert_eq!((statuses(&outcome), took), (vec![OK, OK, Timeout, Timeout], ms(70)));
    let executed: Vec<Executed> = outcome.results.iter().map(|result| result.executed).collect();
    assert_eq!(executed, [Executed::Yes, Executed::Yes, Executed::Unknown, Executed::No]);
    assert_eq!(outcome.results[1].history_content(), "40");
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_are_cancelled_with_their_batch_and_never_run() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(30), &probe)]).await;
    order(&registry, "*");
    let token = CancellationToken::new();
    let running = registry.dispatch(crate::fixture::batch(["sleep"; 3]).with_cancel(token.clone()));
    let cancelling = async {
        tokio::time::sleep(ms(40)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(running, cancelling);
    assert_eq!(statuses(&outcome), [OK, Cancelled, Cancelled]);
    assert_eq!((outcome.results[2].executed, probe.entered()), (Executed::No, 2));
    // One alone, by its id, while it waits.
    let handle = registry.start(crate::fixture::batch(["sleep"; 3])).await.unwrap();
    until("the first runs", || probe.inside() == 1).await;
    handle.cancel_call(&"c2".into());
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [OK, Cancelled, OK]);
    assert_eq!(probe.entered(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_starts_none_that_waits() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(30), &probe)]).await;
    order(&registry, "*");
    assert!(tokio::time::timeout(ms(10), run(&registry, ["sleep"; 3])).await.is_err());
    tokio::time::sleep(ms(200)).await;
    assert_eq!((probe.entered(), probe.inside()), (1, 0));
    registry.close(Duration::ZERO).await;
    drop(registry);
    no_task_is_left().await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_end_with_their_provider_and_outlive_its_reload() {
    let script = Script::new("s", ["work"]);
    let registry = ToolRegistry::new(toolyard::Limits::default());
    script.launch(&registry, settings(|_| ())).await;
    order(&registry, "*");
    let batch = || calls(|_| "work", &[20, 20, 20].map(|ms| json!({"ms": ms})));
    let handle = registry.start(batch()).await.unwrap();
    until("the first runs", || script.entered() == 1).await;
    registry.reload("s").await.unwrap();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(statuses(&outcome), [OK; 3], "the old incarnation finishes what waits for it");
    let handle = registry.start(batch()).await.unwrap();
    until("the first runs", || script.entered() == 4).await;
    script.crash();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!(statuses(&outcome), [Unavailable; 3]);
    assert_eq!((outcome.results[2].executed, script.entered()), (Executed::No, 4));
}

#[tokio::test(start_paused = true)]
async fn a_request_to_stop_may_count_only_when_all_went_well() {
    let conditional = |name: &str| {
        let mut spec = giving(name, || ToolExecutionResult::success("bye").stopping()).spec().clone();
        spec.flags.stop_if_all_succeed = true;
        FunctionTool::new(spec, |_, _| std::future::ready(Ok(ToolExecutionResult::success("bye").stopping())))
    };
    let tools = [
        conditional("say"),
        giving("stop", || ToolExecutionResult::success("bye").stopping()),
        crate::fixture::failing("fail"),
        crate::fixture::saying("fine", "hi"),
    ];
    let registry = registry(tools).await;
    let cases = [
        (&["say", "fine"][..], &["c1"][..]),
        (&["fail", "say"], &[]),
        (&["say", "nothing"], &[]),
        (&["say", "fail", "stop"], &["c3"]),
        (&["say", "stop"], &["c1", "c2"]),
    ];
    for (tools, expected) in cases {
        let outcome = run(&registry, tools.iter().copied()).await;
        let asked: Vec<&str> = outcome.stop_requested_by.iter().map(toolyard::CallId::as_str).collect();
        assert_eq!((asked.as_slice(), outcome.stop), (expected, !expected.is_empty()), "{tools:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn ordered_calls_never_overlap_and_keep_their_order(
        ends in prop::collection::vec((0_u64..4, 0_usize..3, any::<bool>(), 0_usize..3), 1..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let log = Log::default();
            let tools = ASYNC_CLASSES.iter().enumerate();
            let of = |kind: &str, n: usize, class| logging(&format!("{kind}{n}"), class, &log);
            let tools: Vec<_> =
                tools.flat_map(|(n, class)| [of("free", n, *class), of("ordered", n, *class)]).collect();
            let registry = registry(tools).await;
            let mut policy = Policy::default();
            policy.ordered = ToolNames::new(["ordered0", "ordered1", "ordered2"]);
            registry.set_policy(policy);
            let acts = ["", "fail", "panic"];
            let arguments: Vec<Value> =
                ends.iter().map(|(ms, act, ..)| json!({"ms": ms, "act": acts[*act]})).collect();
            let names: Vec<String> = ends
                .iter()
                .map(|(_, _, is_ordered, class)| format!("{}{class}", if *is_ordered { "ordered" } else { "free" }))
                .collect();
            let outcome = registry.dispatch(calls(|index| &names[index], &arguments)).await;
            assert_eq!(outcome.results.len(), ends.len());
            let is_ordered = |line: &&String| ends[line[1..].parse::<usize>().unwrap()].2;
            let seen: Vec<String> = log.lock().unwrap().iter().filter(is_ordered).cloned().collect();
            let expected: Vec<String> = (0..ends.len())
                .filter(|index| ends[*index].2)
                .flat_map(|index| [format!("+{index}"), format!("-{index}")])
                .collect();
            assert_eq!(seen, expected);
        });
    }
}

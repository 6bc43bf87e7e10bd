//! Cancelling a call, a batch or a session: the result comes at once, the tool's future is dropped, its token fires.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use toolyard::CallStatus::Cancelled;
use toolyard::{
    CallId, CancellationToken, ErrorCode, Executed, FunctionTool, SessionKey, ToolExecutionResult, ToolSpec,
};

use crate::fixture::{ASYNC_CLASSES, HOUR, OK, Probe, batch, code_of, codes, hanging, ms, no_task_is_left, registry};
use crate::fixture::{run, run_one, sleeper, statuses, timed, until};

fn session(name: &str) -> SessionKey {
    SessionKey { tenant: "t".into(), session: name.into() }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_at_once_and_its_siblings_go_on() {
    for class in ASYNC_CLASSES {
        let (victim, sibling) = (Probe::default(), Probe::default());
        let registry = registry([
            hanging("hang", &victim).with_execution(class),
            sleeper("sleep", ms(100), &sibling).with_execution(class),
        ])
        .await;
        let handle = registry.start(batch(["sleep", "hang", "sleep"])).await.unwrap();
        tokio::time::sleep(ms(10)).await;
        handle.cancel_call(&CallId::from("c2"));
        let (outcome, time) = timed(handle.outcome()).await;
        let outcome = outcome.unwrap();
        assert_eq!((statuses(&outcome), time), (vec![OK, Cancelled, OK], ms(90)), "{class:?}");
        assert_eq!(code_of(&outcome.results[1]), Some(ErrorCode::CancelledCall));
        assert_eq!((outcome.results[1].executed, outcome.results[1].duration), (Executed::Unknown, ms(10)));
        assert_eq!((victim.dropped(), victim.told()), (1, 1));
        assert_eq!((sibling.dropped(), sibling.told()), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_call_that_has_ended_or_never_was_changes_nothing() {
    let probe = Probe::default();
    let registry = registry([sleeper("fast", ms(10), &probe), sleeper("slow", ms(50), &probe)]).await;
    let handle = registry.start(batch(["fast", "slow"])).await.unwrap();
    tokio::time::sleep(ms(20)).await;
    handle.cancel_call(&CallId::from("c1"));
    handle.cancel_call(&CallId::from("c9"));
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [OK, OK]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_batch_keeps_what_has_ended_and_drops_the_rest() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let tools = [sleeper("fast", ms(10), &probe), hanging("hang", &probe)].map(|tool| tool.with_execution(class));
        let registry = registry(tools).await;
        let handle = registry.start(batch(["hang", "fast", "hang"])).await.unwrap();
        tokio::time::sleep(ms(50)).await;
        assert!(registry.cancel_batch(handle.id()));
        let (outcome, time) = timed(handle.outcome()).await;
        let outcome = outcome.unwrap();
        assert_eq!((statuses(&outcome), time), (vec![Cancelled, OK, Cancelled], ms(0)), "{class:?}");
        assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::CancelledBatch));
        until("both are dropped", || probe.dropped() == 2 && probe.told() == 2).await;
        assert!(!registry.cancel_batch(&outcome.batch_id), "it is no longer in flight");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_came_before_the_cancellation_stays_in_a_direct_dispatch_too() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let tools = [sleeper("fast", ms(10), &probe), hanging("hang", &probe)].map(|tool| tool.with_execution(class));
        let registry = registry(tools).await;
        let token = CancellationToken::new();
        let cancel = async {
            tokio::time::sleep(ms(50)).await;
            token.cancel();
        };
        let dispatch = registry.dispatch(batch(["fast", "hang"]).with_cancel(token.clone()));
        let (outcome, ()) = tokio::join!(dispatch, cancel);
        assert_eq!(statuses(&outcome), [OK, Cancelled], "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_session_ends_its_own_batches_however_they_run() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", HOUR, &probe)]).await;
    let started = registry.start(batch(["sleep"]).with_session(session("a"))).await.unwrap();
    let other = registry.start(batch(["sleep"]).with_session(session("b"))).await.unwrap();
    let cancel = async {
        tokio::time::sleep(ms(10)).await;
        registry.cancel_session(&session("a"))
    };
    let direct = registry.dispatch(batch(["sleep"]).with_session(session("a")));
    let (direct, cancelled) = tokio::join!(direct, cancel);
    assert_eq!(cancelled, 2);
    for outcome in [direct, started.outcome().await.unwrap()] {
        assert_eq!(codes(&outcome), [Some(ErrorCode::CancelledSession)]);
    }
    until("only the other session is inside", || probe.inside() == 1).await;
    other.cancel();
    assert_eq!(codes(&other.outcome().await.unwrap()), [Some(ErrorCode::CancelledBatch)]);
}

#[tokio::test(start_paused = true)]
async fn one_token_ends_many_batches() {
    let probe = Probe::default();
    let registry = registry([hanging("hang", &probe)]).await;
    let token = CancellationToken::new();
    let first = registry.start(batch(["hang"]).with_cancel(token.clone())).await.unwrap();
    let second = registry.start(batch(["hang"; 2]).with_cancel(token.clone())).await.unwrap();
    until("all run", || probe.inside() == 3).await;
    token.cancel();
    assert_eq!(statuses(&first.outcome().await.unwrap()), [Cancelled]);
    assert_eq!(statuses(&second.outcome().await.unwrap()), [Cancelled; 2]);
    until("all are told", || probe.told() == 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_cancelled_before_it_begins_runs_nothing() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let registry = registry([sleeper("sleep", ms(0), &probe).with_execution(class)]).await;
        let token = CancellationToken::new();
        token.cancel();
        let outcome = registry.dispatch(batch(["sleep", "nothing"]).with_cancel(token)).await;
        assert_eq!(codes(&outcome), [Some(ErrorCode::CancelledBatch), Some(ErrorCode::ToolUnknown)]);
        assert_eq!((outcome.results[0].executed, probe.entered()), (Executed::No, 0), "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_dispatch_cancels_its_batch() {
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let registry = registry([hanging("hang", &probe).with_execution(class)]).await;
        let in_time = tokio::time::timeout(ms(10), run(&registry, ["hang"; 3])).await;
        assert!(in_time.is_err());
        until("all are dropped and told", || probe.dropped() == 3 && probe.told() == 3).await;
        assert_eq!(crate::fixture::status_of(&registry, "p").in_flight, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn work_outside_the_calls_future_hears_of_the_cancellation() {
    let heard = Probe::default();
    let counter = heard.clone();
    let tool = FunctionTool::new(ToolSpec::new("detached", ""), move |invocation, context| {
        let visit = counter.enter(&invocation, &context);
        let token = context.cancel_token().clone();
        tokio::spawn(async move {
            token.cancelled().await;
            visit.finish();
        });
        std::future::pending()
    });
    let registry = registry([tool]).await;
    let handle = registry.start(batch(["detached"])).await.unwrap();
    until("it runs", || heard.inside() == 1).await;
    handle.cancel();
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [Cancelled]);
    until("the detached work has ended", || heard.finished() == 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_token_asked_for_after_the_end_is_cancelled_already() {
    let context = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&context);
    let tool = FunctionTool::new(ToolSpec::new("late", ""), move |_, context| {
        *kept.lock().unwrap() = Some(context);
        std::future::pending()
    });
    let registry = registry([tool.map_spec(|spec| spec.with_timeout(ms(10)))]).await;
    run_one(&registry, "late").await;
    assert!(context.lock().unwrap().take().unwrap().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn tasks_of_calls_that_succeeded_are_told_nothing() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(10), &probe)]).await;
    run(&registry, ["sleep"; 4]).await;
    assert_eq!((probe.finished(), probe.told()), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn no_task_is_left_after_many_cancelled_batches() {
    let metrics = tokio::runtime::Handle::current().metrics();
    for class in ASYNC_CLASSES {
        let probe = Probe::default();
        let registry = registry([sleeper("sleep", HOUR, &probe).with_execution(class)]).await;
        let before = metrics.num_alive_tasks();
        for round in 0..51 {
            let token = CancellationToken::new();
            let handle = registry.start(batch(["sleep"; 16]).with_cancel(token.clone())).await.unwrap();
            tokio::time::sleep(ms(1)).await;
            if round % 2 == 0 {
                token.cancel()
            } else {
                handle.cancel()
            }
            assert_eq!(statuses(&handle.outcome().await.unwrap()), [Cancelled; 16]);
        }
        until("their tasks are gone", || metrics.num_alive_tasks() == before).await;
        assert_eq!((probe.entered(), probe.dropped()), (816, 816));
        registry.close(ms(0)).await;
        no_task_is_left().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_refuses_to_be_polled_again_does_not_hold_its_batch() {
    // It goes on in a task of its own and hears nothing; its result has nowhere to go.
    let tool = FunctionTool::new(ToolSpec::new("deaf", ""), |_, _| async {
        let work = tokio::spawn(tokio::time::sleep(HOUR));
        work.await.ok();
        Ok(ToolExecutionResult::success("late"))
    });
    let registry = registry([tool]).await;
    let handle = registry.start(batch(["deaf"])).await.unwrap();
    tokio::time::sleep(ms(5)).await;
    handle.cancel();
    let (outcome, time) = timed(handle.outcome()).await;
    assert_eq!((statuses(&outcome.unwrap()), time), (vec![Cancelled], ms(0)));
}

/// Real threads: one enters the calls, one of which cancels them, while another gives them up. On a machine with one core
/// the two seldom meet, and the test shows little.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_reported_as_not_run_never_runs() {
    let entered = Arc::new(AtomicUsize::new(0));
    let token = Arc::new(Mutex::new(CancellationToken::new()));
    let (count, cancel) = (Arc::clone(&entered), Arc::clone(&token));
    let tool = FunctionTool::new(ToolSpec::new("count", ""), move |_, _| {
        if count.fetch_add(1, Ordering::SeqCst) == 16 {
            cancel.lock().unwrap().cancel();
        }
        std::future::ready(Ok(ToolExecutionResult::success("")))
    });
    let registry = registry([tool]).await;
    for _ in 0..500 {
        entered.store(0, Ordering::SeqCst);
        let fresh = CancellationToken::new();
        *token.lock().unwrap() = fresh.clone();
        let registry = registry.clone();
        let dispatch = tokio::spawn(async move { registry.dispatch(batch(["count"; 128]).with_cancel(fresh)).await });
        let outcome = dispatch.await.unwrap();
        let reported = outcome.results.iter().filter(|result| result.executed == Executed::No).count();
        // A call that was about to enter does so a moment later.
        until("all others have run", || entered.load(Ordering::SeqCst) >= 128 - reported).await;
        assert_eq!(entered.load(Ordering::SeqCst), 128 - reported);
    }
}

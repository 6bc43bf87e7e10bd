//! Batches that the registry owns: their events, their control, their ids.

use std::time::Duration;

use toolyard::CallStatus::{Cancelled, UnknownTool};
use toolyard::{BatchEvent, BatchHandle, BatchId, CallStatus, FunctionTool, Progress, RegistryError, ToolBatch};

use crate::fixture::{HOUR, OK, Probe, batch, failing, hanging, limits, ms, registry, registry_with, saying, settings};
use crate::fixture::{run_one, sleeper, statuses, until};

async fn all_events(handle: &mut BatchHandle) -> Vec<BatchEvent> {
    let mut events = Vec::new();
    while let Some(event) = handle.events().next().await {
        events.push(event);
    }
    events
}

fn ends(events: &[BatchEvent]) -> Vec<(usize, CallStatus)> {
    let end = |event: &BatchEvent| match event {
        BatchEvent::CallSettled { index, status, .. } => Some((*index, *status)),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

fn with_id(mut batch: ToolBatch, id: &str) -> ToolBatch {
    batch.id = BatchId::from(id);
    batch
}

/// Reports this often at its start, then once more at its end.
fn reporting(name: &str, times: usize, time: Duration) -> FunctionTool {
    FunctionTool::from_fn_with_context(name, "", move |context, _| async move {
        for n in 0..times {
            context.progress(Progress { done: n as f64, ..Progress::default() });
        }
        tokio::time::sleep(time).await;
        context.progress(Progress { done: 1.0, message: Some("last".to_owned()), ..Progress::default() });
        Ok("done".to_owned())
    })
}

#[tokio::test(start_paused = true)]
async fn events_come_as_things_happen_and_the_batchs_end_comes_last() {
    let probe = Probe::default();
    for class in crate::fixture::ASYNC_CLASSES {
        let tools = [sleeper("slow", ms(200), &probe), sleeper("fast", ms(50), &probe)];
        let registry = registry(tools.map(|tool| tool.with_execution(class))).await;
        let mut handle = registry.start(batch(["slow", "fast", "nothing"])).await.unwrap();
        let events = all_events(&mut handle).await;
        assert_eq!(ends(&events), [(2, UnknownTool), (1, OK), (0, OK)], "{class:?}");
        let place = |wanted: &dyn Fn(&BatchEvent) -> bool| events.iter().position(wanted).unwrap();
        for call in [0, 1] {
            let started = place(&|event| matches!(event, BatchEvent::CallStarted { index, .. } if *index == call));
            let settled = place(&|event| matches!(event, BatchEvent::CallSettled { index, .. } if *index == call));
            assert!(started < settled);
        }
        assert_eq!(events.last(), Some(&BatchEvent::BatchSettled { stop: false }));
        let durations: Vec<_> = handle.outcome().await.unwrap().results.iter().map(|r| r.duration).collect();
        assert_eq!(durations, [ms(200), ms(50), ms(0)]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_fast_call_is_told_before_a_slow_one_ends() {
    let probe = Probe::default();
    let registry = registry([sleeper("slow", ms(200), &probe), sleeper("fast", ms(50), &probe)]).await;
    let mut handle = registry.start(batch(["slow", "fast"])).await.unwrap();
    let start = tokio::time::Instant::now();
    while ends(&[handle.events().next().await.unwrap()]) != [(1, OK)] {}
    assert_eq!(start.elapsed(), ms(50));
    assert_eq!(probe.inside(), 1);
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_between_start_and_end() {
    let registry = registry([reporting("report", 3, ms(10))]).await;
    let mut handle = registry.start(batch(["report"])).await.unwrap();
    let events = all_events(&mut handle).await;
    let done: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            BatchEvent::CallProgress { index: 0, progress } => Some(progress.done),
            _ => None,
        })
        .collect();
    assert_eq!(done, [0.0, 1.0, 2.0, 1.0]);
    assert!(matches!(events[0], BatchEvent::CallStarted { .. }));
    assert!(matches!(events[events.len() - 2], BatchEvent::CallSettled { .. }));
}

#[tokio::test(start_paused = true)]
async fn no_progress_is_told_after_the_end_of_a_call() {
    // The report outlives the call: it comes from a task of the tool's own.
    let tool = FunctionTool::from_fn_with_context("late", "", |context, _| async move {
        tokio::spawn(async move {
            tokio::time::sleep(ms(50)).await;
            context.progress(Progress::default());
        });
        Ok("done".to_owned())
    });
    let probe = Probe::default();
    let registry = registry([tool, sleeper("sleep", ms(100), &probe)]).await;
    let mut handle = registry.start(batch(["late", "sleep"])).await.unwrap();
    let events = all_events(&mut handle).await;
    assert!(!events.iter().any(|event| matches!(event, BatchEvent::CallProgress { .. })), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_progress_drops_no_end() {
    let registry = registry([reporting("flood", 10_000, ms(10)), saying("say", "hi")]).await;
    let mut handle = registry.start(batch((0..100).map(|n| if n % 2 == 0 { "flood" } else { "say" }))).await.unwrap();
    // Nobody reads until all is over.
    until("the batch is over", || !registry.cancel_batch(&BatchId::from("none")) && handle_is_over(&registry)).await;
    let events = all_events(&mut handle).await;
    assert_eq!(ends(&events).len(), 100);
    assert_eq!(events.iter().filter(|event| matches!(event, BatchEvent::CallStarted { .. })).count(), 100);
    assert!(events.iter().any(|event| matches!(event, BatchEvent::CallProgress { .. })));
    assert_eq!(events.last(), Some(&BatchEvent::BatchSettled { stop: false }));
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [OK; 100]);
}

fn handle_is_over(registry: &toolyard::ToolRegistry) -> bool {
    crate::fixture::status_of(registry, "p").in_flight == 0
}

#[tokio::test(start_paused = true)]
async fn a_batch_outlives_its_handle() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(100), &probe)]).await;
    drop(registry.start(batch(["sleep"])).await.unwrap());
    until("it has run to its end", || probe.finished() == 1).await;
    assert_eq!(probe.told(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_id_is_taken_as_long_as_its_batch_is_in_flight() {
    let probe = Probe::default();
    let registry = registry([hanging("hang", &probe), failing("fail")]).await;
    let first = registry.start(with_id(batch(["hang"]), "b1")).await.unwrap();
    let second = registry.start(with_id(batch(["fail"]), "b1")).await;
    assert_eq!(second.unwrap_err(), RegistryError::DuplicateBatch("b1".to_owned()));
    assert!(registry.cancel_batch(&BatchId::from("b1")));
    assert_eq!(statuses(&first.outcome().await.unwrap()), [Cancelled]);
    let third = registry.start(with_id(batch(["fail"]), "b1")).await.unwrap();
    assert_eq!(third.outcome().await.unwrap().batch_id, BatchId::from("b1"));
}

#[tokio::test(start_paused = true)]
async fn batches_in_flight_are_limited_and_room_comes_back() {
    let probe = Probe::default();
    let few = limits(|limits| limits.max_batches = 2);
    let tools = [sleeper("sleep", HOUR, &probe), saying("say", "hi")];
    let registry = registry_with(few, settings(|_| ()), tools).await;
    let first = registry.start(batch(["sleep"])).await.unwrap();
    let second = registry.start(batch(["sleep"])).await.unwrap();
    assert_eq!(registry.start(batch(["say"])).await.unwrap_err(), RegistryError::TooManyBatches(2));
    assert_eq!(run_one(&registry, "say").await.status, OK, "the embedder's own tasks are not counted");
    first.cancel();
    first.outcome().await.unwrap();
    assert_eq!(statuses(&registry.start(batch(["say"])).await.unwrap().outcome().await.unwrap()), [OK]);
    second.cancel();
}

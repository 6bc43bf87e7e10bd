//! Whatever dies, panics, hangs or is cancelled: one result per call, in order, and no tool runs twice.

mod case;
mod crashable;

use proptest::prelude::*;
use toolyard::{
    BatchHandle, BatchOutcome, CallId, CallStatus, CancellationToken, Executed, RegistryError, ToolRegistry,
};

use crate::fixture::{ms, no_task_is_left};
use case::{Cancel, Case, Counters, Way, cases};
use crashable::Crash;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_has_exactly_one_result(case in cases(false)) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(hold(&case));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    /// Real threads and real time, so that calls, cancellations and crashes race.
    #[test]
    fn every_call_has_exactly_one_result_on_many_threads(case in cases(true)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
        runtime.block_on(async { tokio::spawn(async move { hold(&case).await }).await.unwrap() });
    }
}

async fn hold(case: &Case) {
    let counters = Counters::new(case.calls.len());
    let crash = Crash::default();
    let registry = case.registry(&counters, &crash).await;
    let outcome = match case.way {
        Way::Started => started(case, &registry, &crash).await,
        Way::Direct => direct(case, &registry, &crash).await,
    };
    check(case, &counters, &outcome);
    registry.close(ms(0)).await;
    drop(registry);
    // Whatever was still queued must not run once its result is out.
    check(case, &counters, &outcome);
    if tokio::task::try_id().is_none() {
        no_task_is_left().await;
        check(case, &counters, &outcome);
    }
}

async fn started(case: &Case, registry: &ToolRegistry, crash: &Crash) -> BatchOutcome {
    let token = CancellationToken::new();
    let handle: Result<BatchHandle, RegistryError> = registry.start(case.batch().with_cancel(token.clone())).await;
    let handle = handle.unwrap();
    case.disturb(crash, |cancel| match cancel {
        Cancel::Batch => handle.cancel(),
        Cancel::Token => token.cancel(),
        Cancel::Call(index) => handle.cancel_call(&CallId::from(Case::call_id(index))),
    })
    .await;
    handle.outcome().await.unwrap()
}

async fn direct(case: &Case, registry: &ToolRegistry, crash: &Crash) -> BatchOutcome {
    let token = CancellationToken::new();
    let dispatch = registry.dispatch(case.batch().with_cancel(token.clone()));
    let disturb = case.disturb(crash, |cancel| match cancel {
        Cancel::Batch | Cancel::Token => token.cancel(),
        // A single call can only be cancelled through a handle.
        Cancel::Call(_) => {}
    });
    let (outcome, ()) = tokio::join!(dispatch, disturb);
    outcome
}

fn check(case: &Case, counters: &Counters, outcome: &BatchOutcome) {
    assert_eq!(outcome.results.len(), case.calls.len());
    let mut stopping = Vec::new();
    for (index, (call, result)) in case.calls.iter().zip(&outcome.results).enumerate() {
        let entered = counters.entered(index);
        assert_eq!(result.index, index);
        assert_eq!(result.call_id.as_str(), Case::call_id(index));
        assert_eq!(result.is_success(), result.status == CallStatus::Ok);
        assert_eq!(result.is_success(), result.error.is_none());
        assert!(result.error.as_ref().is_none_or(|error| error.code.status() == result.status));
        assert!(!result.history_content().is_empty());
        match result.executed {
            Executed::No => assert_eq!(entered, 0, "{call:?} did not run: {result:?}"),
            Executed::Yes | Executed::Unknown => assert_eq!(entered, 1, "{call:?} ran: {result:?}"),
        }
        if let Some(expected) = case.expected(index) {
            assert_eq!(result.status, expected, "{call:?}");
        }
        assert!(case.may_end_as(index, result.status), "{call:?}: {result:?}");
        if result.is_success() && call.act.asks_to_stop() {
            stopping.push(result.call_id.clone());
        }
    }
    assert_eq!((outcome.stop, &outcome.stop_requested_by), (!stopping.is_empty(), &stopping));
}

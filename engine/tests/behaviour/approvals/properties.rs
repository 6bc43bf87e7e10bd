//! Whatever the order of approving, denying, expiring and cancelling: the body runs at most once, and there is one end.

use std::time::Duration;

use proptest::prelude::*;
use toolyard::{ApprovalFilter, ApprovalMode, ApprovalState, CallStatus, Executed, ToolRegistry};

use super::{in_session, one_writer};
use crate::fixture::{Probe, ms};

#[derive(Clone, Copy, Debug)]
enum Step {
    Approve(usize),
    ApproveForSession(usize),
    Deny(usize),
    CancelCall(usize),
    CancelBatch,
    Wait(u64),
}

const CALLS: usize = 3;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..CALLS).prop_map(Step::Approve),
        1 => (0..CALLS).prop_map(Step::ApproveForSession),
        2 => (0..CALLS).prop_map(Step::Deny),
        1 => (0..CALLS).prop_map(Step::CancelCall),
        1 => Just(Step::CancelBatch),
        // The tool takes 50 ms, a decision has 300 s.
        3 => prop_oneof![Just(0_u64), 1_u64..100, 299_900_u64..300_100].prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_body_runs_at_most_once_and_there_is_one_end(
        steps in steps(),
        waits in any::<bool>(),
        deadline in proptest::option::of(1_u64..400_000),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(hold(&steps, waits, deadline));
    }
}

async fn hold(steps: &[Step], waits: bool, deadline: Option<u64>) {
    let (registry, probe) = one_writer().await;
    let mode = if waits { ApprovalMode::Wait } else { ApprovalMode::Return };
    let mut batch = in_session(["write"; CALLS]).with_approvals(mode);
    batch.deadline = deadline.map(Duration::from_millis);
    let mut handle = registry.start(batch).await.unwrap();
    let all = ApprovalFilter { state: None, ..Default::default() };
    super::pending(&registry.approvals()).await;
    let asked = registry.approvals().list(&all).await.unwrap();
    let id = |place: usize| {
        let call = format!("c{}", place + 1);
        asked.iter().find(|approval| approval.call_id.as_str() == call).unwrap().id.to_string()
    };
    let mut decided = vec![0; CALLS];
    for step in steps {
        let approvals = registry.approvals();
        match *step {
            Step::Approve(n) => decided[n] += usize::from(approvals.approve(&id(n), "ann").await.is_ok()),
            Step::ApproveForSession(n) => {
                decided[n] += usize::from(approvals.approve_for_session(&id(n), "ann").await.is_ok());
            }
            Step::Deny(n) => decided[n] += usize::from(approvals.deny(&id(n), "ann", None).await.is_ok()),
            Step::CancelCall(n) => handle.cancel_call(&format!("c{}", n + 1).as_str().into()),
            Step::CancelBatch => handle.cancel(),
            Step::Wait(time) => tokio::time::sleep(ms(time)).await,
        }
    }
    let outcome = handle.wait().await.unwrap();
    tokio::time::sleep(Duration::from_secs(400)).await;
    check(&registry, &probe, &asked.iter().map(|approval| approval.id.to_string()).collect::<Vec<_>>()).await;
    assert!(decided.iter().all(|times| *times <= 1), "{decided:?}");
    for (place, result) in outcome.results.iter().enumerate() {
        let end = registry.approvals().get(&id(place)).await.unwrap();
        match (waits, result.status) {
            (false, status) => assert_eq!(status, CallStatus::ApprovalRequired),
            (true, CallStatus::Ok) => assert_eq!(end.state, ApprovalState::Settled),
            (true, _) => assert_ne!(result.executed, Executed::Yes),
        }
        if result.executed == Executed::No && waits {
            assert!(!probe.order().contains(&format!("c{}", place + 1)), "{place} ran and says that it did not");
        }
    }
}

/// Every approval is over, and those that ran did so once.
async fn check(registry: &ToolRegistry, probe: &Probe, ids: &[String]) {
    let mut order = probe.order();
    order.sort();
    let ran = order.len();
    order.dedup();
    assert_eq!(order.len(), ran, "a body ran twice");
    for id in ids {
        let approval = registry.approvals().get(id).await.unwrap();
        assert!(approval.state.is_over(), "{:?}", approval.state);
        let outcome = approval.outcome.unwrap();
        let has_run = order.iter().any(|call| *call == approval.call_id.as_str());
        match approval.state {
            ApprovalState::Settled => assert!(has_run || outcome.status == CallStatus::Cancelled),
            _ => assert!(!has_run, "{:?}", approval.state),
        }
    }
}

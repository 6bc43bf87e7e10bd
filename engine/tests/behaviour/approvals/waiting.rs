//! Mode `wait`: the call waits inside its batch, holds nothing meanwhile, and ends with what is decided.

use std::time::Duration;

use toolyard::CallStatus::{ApprovalRequired, Cancelled, Denied, Timeout};
use toolyard::{
    ApprovalFilter, ApprovalMode, ApprovalState, BatchEvent, CallStatus, Effect, ErrorCode, Executed, ExecutionClass,
    FunctionTool, Progress, ProviderSettings, ToolExecutionResult, ToolRegistry,
};

use super::{PATIENCE, acting, change_policy, one_writer, pending, spec, state_of, waiting_batch, writing};
use crate::fixture::{
    HOUR, OK, Probe, Script, code_of, hanging, limits, ms, registry, registry_with, saying, settings, statuses, timed,
    until,
};

#[tokio::test(start_paused = true)]
async fn the_batch_waits_for_the_decision_and_for_the_run() {
    for class in [ExecutionClass::Io, ExecutionClass::Task, ExecutionClass::Inline, ExecutionClass::Blocking] {
        let probe = Probe::default();
        let tool = if class == ExecutionClass::Blocking {
            acting(FunctionTool::blocking(spec("write", None), |_, _| Ok(ToolExecutionResult::success("write"))))
        } else {
            writing("write", &probe).with_execution(class)
        };
        let registry = registry([tool, saying("say", "hi")]).await;
        let approvals = registry.approvals();
        let decide = async {
            let approval = pending(&approvals).await;
            assert_eq!(approval.mode, ApprovalMode::Wait);
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert_eq!(probe.entered(), 0);
            approvals.approve(approval.id.as_str(), "ann").await.unwrap();
            approval.id
        };
        let ((outcome, time), id) = tokio::join!(timed(registry.dispatch(waiting_batch(["write", "say"]))), decide);
        assert_eq!(statuses(&outcome), [OK, OK], "{class:?}");
        assert!(time >= Duration::from_secs(60), "{time:?}");
        let result = &outcome.results[0];
        assert_eq!((result.executed, result.history_content().as_str()), (Executed::Yes, "write"), "{class:?}");
        assert!(result.arguments.is_some() && result.approval.is_none());
        assert_eq!(state_of(&registry, id.as_str()).await, ApprovalState::Settled);
    }
}

#[tokio::test(start_paused = true)]
async fn its_events_tell_what_is_asked_then_the_start_its_progress_and_the_end() {
    let tool = FunctionTool::from_fn_with_context("write", "", |context, _| async move {
        context.progress(Progress { done: 1.0, ..Progress::default() });
        Ok("done".to_owned())
    });
    let registry = registry([acting(tool)]).await;
    let mut handle = registry.start(waiting_batch(["write"])).await.unwrap();
    let Some(BatchEvent::ApprovalRequired { index: 0, approval, .. }) = handle.events().next().await else {
        panic!("nothing was asked");
    };
    tokio::time::sleep(ms(100)).await;
    registry.approvals().approve(approval.id.as_str(), "ann").await.unwrap();
    assert!(matches!(handle.events().next().await, Some(BatchEvent::CallStarted { index: 0, .. })));
    assert!(matches!(handle.events().next().await, Some(BatchEvent::CallProgress { index: 0, .. })));
    assert!(matches!(handle.events().next().await, Some(BatchEvent::CallSettled { index: 0, status: OK, .. })));
    assert!(matches!(handle.events().next().await, Some(BatchEvent::BatchSettled { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_denial_and_an_expiry_end_the_call_alone() {
    let (registry, probe) = one_writer().await;
    let approvals = registry.approvals();
    let deny = async {
        let approval = pending(&approvals).await;
        approvals.deny(approval.id.as_str(), "ann", Some("not today")).await.unwrap();
    };
    let (outcome, ()) = tokio::join!(registry.dispatch(waiting_batch(["write"])), deny);
    assert_eq!((statuses(&outcome), outcome.results[0].executed), (vec![Denied], Executed::No));
    assert!(outcome.results[0].history_content().contains("not today"));
    let (outcome, time) = timed(registry.dispatch(waiting_batch(["write"]))).await;
    assert_eq!(
        (statuses(&outcome), code_of(&outcome.results[0])),
        (vec![Denied], Some(ErrorCode::PolicyApprovalExpired))
    );
    assert_eq!((time, probe.entered()), (PATIENCE, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_holds_no_permit_and_its_provider_is_not_kept() {
    let script = Script::new("p", []);
    script.set_specs(vec![spec("write", Some(Effect::Write)), spec("read", None)]);
    let registry = ToolRegistry::new(limits(|_| ()));
    script.launch(&registry, settings(|settings| settings.max_in_flight = std::num::NonZeroUsize::new(1))).await;
    let handle = registry.start(waiting_batch(["write"])).await.unwrap();
    let id = pending(&registry.approvals()).await.id;
    assert_eq!(crate::fixture::status_of(&registry, "p").in_flight, 0);
    assert_eq!(statuses(&registry.dispatch(waiting_batch(["read"])).await), [OK]);
    // A reload costs it nothing: it runs in what is there when it is approved.
    let (reloaded, time) = timed(registry.reload("p")).await;
    reloaded.unwrap();
    assert!(time < HOUR);
    until("the old one is closed", || script.closed.load(std::sync::atomic::Ordering::SeqCst) == 1).await;
    registry.approvals().approve(id.as_str(), "ann").await.unwrap();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!((statuses(&outcome), outcome.results[0].history_content().as_str()), (vec![OK], "write of 2"));
}

#[tokio::test(start_paused = true)]
async fn the_tools_own_time_begins_when_it_is_approved_and_the_batchs_holds_throughout() {
    let probe = Probe::default();
    let tool = acting(hanging("hang", &probe)).map_spec(|spec| spec.with_timeout(ms(100)));
    let registry = registry([tool]).await;
    let approvals = registry.approvals();
    let decide = |after| {
        let approvals = approvals.clone();
        async move {
            let id = pending(&approvals).await.id;
            tokio::time::sleep(after).await;
            approvals.approve(id.as_str(), "ann").await.map(|_| ())
        }
    };
    let (outcome, _) = tokio::join!(timed(registry.dispatch(waiting_batch(["hang"]))), decide(ms(1000)));
    assert_eq!((statuses(&outcome.0), probe.entered()), (vec![Timeout], 1));
    assert!(outcome.1 >= ms(1100) && outcome.1 < ms(1200), "{:?}", outcome.1);
    // The batch is over while it runs: the tool is told.
    let batch = waiting_batch(["hang"]).with_deadline(ms(1050));
    let (outcome, _) = tokio::join!(timed(registry.dispatch(batch)), decide(ms(1000)));
    assert_eq!((statuses(&outcome.0), outcome.0.results[0].executed), (vec![Timeout], Executed::Unknown));
    assert_eq!(outcome.1, ms(1050));
    until("the tool is told", || probe.told() == 2 && probe.inside() == 0).await;
    // The batch is over while it waits: there is nothing to approve any more.
    let batch = waiting_batch(["hang"]).with_deadline(ms(500));
    let (outcome, decided) = tokio::join!(registry.dispatch(batch), decide(ms(1000)));
    assert_eq!((statuses(&outcome), outcome.results[0].executed), (vec![Timeout], Executed::No));
    assert!(decided.is_err());
    assert_eq!(probe.entered(), 2);
}

#[tokio::test(start_paused = true)]
async fn cancelling_while_it_waits_withdraws_it_and_cancelling_while_it_runs_tells_the_tool() {
    let probe = Probe::default();
    let registry = registry([acting(hanging("hang", &probe)), saying("say", "hi")]).await;
    let approvals = registry.approvals();
    let handle = registry.start(waiting_batch(["hang", "say"])).await.unwrap();
    let id = pending(&approvals).await.id;
    handle.cancel_call(&"c1".into());
    let outcome = handle.outcome().await.unwrap();
    assert_eq!((statuses(&outcome), outcome.results[0].executed), (vec![Cancelled, OK], Executed::No));
    assert_eq!(state_of(&registry, id.as_str()).await, ApprovalState::Withdrawn);
    assert!(approvals.approve(id.as_str(), "ann").await.is_err());

    let handle = registry.start(waiting_batch(["hang"])).await.unwrap();
    let id = pending(&approvals).await.id;
    approvals.approve(id.as_str(), "ann").await.unwrap();
    until("it runs", || probe.inside() == 1).await;
    handle.cancel();
    let outcome = handle.outcome().await.unwrap();
    assert_eq!((statuses(&outcome), outcome.results[0].executed), (vec![Cancelled], Executed::Unknown));
    let over = approvals.outcome(id.as_str()).await.unwrap();
    assert_eq!((over.state, over.outcome.unwrap().status), (ApprovalState::Settled, Cancelled));
    assert_eq!((probe.entered(), probe.inside(), probe.told()), (1, 0, 1));

    // Dropped by its caller.
    let left = tokio::time::timeout(ms(10), registry.dispatch(waiting_batch(["hang"]))).await;
    assert!(left.is_err());
    assert_eq!(approvals.list(&ApprovalFilter::default()).await.unwrap(), []);
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_denied_sibling_does_not_stop_the_others() {
    let probe = Probe::default();
    let registry = registry([writing("write", &probe)]).await;
    let approvals = registry.approvals();
    let decide = async {
        pending(&approvals).await;
        let all = approvals.list(&ApprovalFilter::default()).await.unwrap();
        for approval in all {
            match approval.call_id.as_str() {
                "c2" => approvals.deny(approval.id.as_str(), "ann", None).await.map(drop).unwrap(),
                _ => approvals.approve(approval.id.as_str(), "ann").await.map(drop).unwrap(),
            }
        }
    };
    let (outcome, ()) = tokio::join!(registry.dispatch(waiting_batch(["write", "write", "write"])), decide);
    assert_eq!(statuses(&outcome), [OK, Denied, OK]);
    let mut ran = probe.order();
    ran.sort();
    assert_eq!(ran, ["c1", "c3"]);
}

#[tokio::test(start_paused = true)]
async fn policy_may_make_calls_wait_and_a_batch_may_choose_otherwise() {
    let (registry, _) = one_writer().await;
    change_policy(&registry, |policy| policy.approvals.mode = ApprovalMode::Wait);
    let returned = registry.dispatch(super::in_session(["write"]).with_approvals(ApprovalMode::Return)).await;
    assert_eq!(statuses(&returned), [ApprovalRequired]);
    let (waited, time) = timed(registry.dispatch(super::in_session(["write"]))).await;
    assert_eq!((statuses(&waited), time), (vec![Denied], PATIENCE));
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_is_counted_once() {
    // Its stop request reaches the batch, too.
    let stop = acting(crate::fixture::giving("stop", || ToolExecutionResult::success("").stopping()));
    let registry = registry_with(limits(|_| ()), ProviderSettings::default(), [stop]).await;
    let approvals = registry.approvals();
    let decide = async {
        let id = pending(&approvals).await.id;
        approvals.approve(id.as_str(), "ann").await.unwrap();
    };
    let (outcome, ()) = tokio::join!(registry.dispatch(waiting_batch(["stop"])), decide);
    assert!(outcome.stop);
    assert_eq!(outcome.stop_requested_by, ["c1".into()]);
    assert_eq!(outcome.results[0].status, CallStatus::Ok);
}

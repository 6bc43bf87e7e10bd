//! The run of an approved call: every other gate again, as of now; its own time; and the end of what asked for it.

use serde_json::json;
use toolyard::CallStatus::{ApprovalRequired, Cancelled, Denied, InvalidArguments, Timeout};
use toolyard::{
    ApprovalError, ApprovalState, CallStatus, Decision, DenyRule, Effect, ErrorCode, FunctionTool, ProviderSettings,
    ToolBatch, ToolFlags, ToolNames, ToolRegistry, TurnId,
};

use super::{acting, ask, change_policy, in_session, notice, one_writer, session, state_of, telling, writing};
use crate::fixture::{
    OK, Probe, Script, call_with, code_of, giving, hanging, limits, ms, provider, registry, run_one, settings,
    statuses, timed, until,
};

async fn approve(registry: &ToolRegistry, id: &str) -> CallStatus {
    registry.approvals().approve(id, "ann").await.unwrap();
    registry.approvals().outcome(id).await.unwrap().outcome.unwrap().status
}

#[tokio::test(start_paused = true)]
async fn what_policy_has_forbidden_meanwhile_stays_forbidden() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    change_policy(&registry, |policy| policy.effects.model.write = Decision::Deny);
    assert_eq!(approve(&registry, &id).await, Denied);
    assert_eq!(probe.entered(), 0);
    assert_eq!(registry.approvals().approve(&id, "ann").await, Err(ApprovalError::Decided(ApprovalState::Settled)));
}

#[tokio::test(start_paused = true)]
async fn arguments_are_checked_against_the_schema_of_now() {
    let spec = |kind: &str| {
        let mut spec = super::spec("pay", Some(Effect::Money));
        spec.parameters_schema = json!({"type": "object", "properties": {"cents": {"type": kind}}});
        spec
    };
    let script = Script::new("p", []);
    script.set_specs(vec![spec("integer")]);
    let registry = ToolRegistry::new(limits(|_| ()));
    script.launch(&registry, ProviderSettings::default()).await;
    let batch = || ToolBatch::new(vec![call_with("c", "pay", &json!({"cents": 5}))]).with_session(session("s"));
    let [first, second] = [registry.dispatch(batch()).await, registry.dispatch(batch()).await];
    let mut changes = registry.tools_changes();
    script.set_specs(vec![spec("string")]);
    script.tools_changed();
    changes.changed().await.unwrap();
    assert_eq!(approve(&registry, notice(&first, 0).id.as_str()).await, InvalidArguments);
    assert_eq!(script.entered(), 0);
    script.set_specs(vec![spec("number")]);
    script.tools_changed();
    changes.changed().await.unwrap();
    assert_eq!(approve(&registry, notice(&second, 0).id.as_str()).await, OK);
}

#[tokio::test(start_paused = true)]
async fn a_call_made_before_the_turn_was_over_runs_after_it() {
    let probe = Probe::default();
    let registry =
        registry([writing("write", &probe), giving("stop", || toolyard::ToolExecutionResult::success("").stopping())])
            .await;
    let turn = |id: &str| TurnId(id.into());
    let outcome = registry.dispatch(in_session(["write", "stop"]).with_turn(turn("one"))).await;
    assert_eq!(statuses(&outcome), [ApprovalRequired, OK]);
    assert_eq!(approve(&registry, notice(&outcome, 0).id.as_str()).await, OK);
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_asks_to_stop_its_own_turn_and_no_later_one() {
    let stopping = || acting(giving("stop", || toolyard::ToolExecutionResult::success("").stopping()));
    for (later, is_stopped) in [("one", true), ("two", false)] {
        let registry = registry([stopping()]).await;
        let outcome = registry.dispatch(in_session(["stop"]).with_turn(TurnId("one".into()))).await;
        registry.dispatch(in_session([]).with_turn(TurnId(later.into()))).await;
        assert_eq!(approve(&registry, notice(&outcome, 0).id.as_str()).await, OK);
        assert_eq!(registry.sessions().state(&session("s")).unwrap().turn.stopped, is_stopped, "{later}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_untrusted_tool_taints_the_turn_in_which_it_runs() {
    let tool = telling("post", Effect::Public).map_spec(|mut spec| {
        spec.flags = ToolFlags { untrusted: true, ..ToolFlags::default() };
        spec
    });
    let registry = registry([tool]).await;
    let id = ask(&registry, "post").await;
    let tainted = || registry.sessions().state(&session("s")).unwrap().turn.tainted;
    assert!(!tainted());
    approve(&registry, &id).await;
    assert!(tainted());
}

#[tokio::test(start_paused = true)]
async fn its_tools_own_time_begins_when_it_is_approved() {
    let probe = Probe::default();
    let tool = acting(hanging("hang", &probe)).map_spec(|spec| spec.with_timeout(ms(100)));
    let registry = registry([tool]).await;
    let id = ask(&registry, "hang").await;
    tokio::time::sleep(ms(5000)).await;
    let (status, time) = timed(approve(&registry, &id)).await;
    assert_eq!((status, time, probe.entered()), (Timeout, ms(100), 1));
}

#[tokio::test(start_paused = true)]
async fn whoever_approves_may_leave_and_the_call_runs_all_the_same() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    let approvals = registry.approvals();
    let left = tokio::time::timeout(ms(0), approvals.approve(&id, "ann"));
    drop(left.await);
    until("it ran", || probe.finished() == 1).await;
    assert_eq!(approvals.outcome(&id).await.unwrap().state, ApprovalState::Settled);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_down_costs_nobody_the_decision() {
    let script = Script::new("p", []);
    script.set_specs(vec![super::spec("write", Some(Effect::Write))]);
    let registry = ToolRegistry::new(limits(|_| ()));
    script.launch(&registry, ProviderSettings::default()).await;
    let id = ask(&registry, "write").await;
    let mut changes = registry.tools_changes();
    script.crash();
    changes.changed().await.unwrap();
    let refused = registry.approvals().approve(&id, "ann").await;
    assert!(matches!(refused, Err(ApprovalError::NotNow(_))), "{refused:?}");
    assert_eq!(state_of(&registry, &id).await, ApprovalState::Pending);
    tokio::time::sleep(ms(60_000)).await;
    assert_eq!(approve(&registry, &id).await, OK);
    assert_eq!(script.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_withdrawn_when_its_tool_is_taken_away() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    registry.unregister("p").await.unwrap();
    let over = registry.approvals().outcome(&id).await.unwrap();
    let outcome = over.outcome.unwrap();
    assert_eq!(over.state, ApprovalState::Withdrawn);
    assert_eq!(code_of(outcome.result.as_ref().unwrap()), Some(ErrorCode::ToolRemoved));
    assert_eq!(registry.approvals().approve(&id, "ann").await, Err(ApprovalError::Decided(ApprovalState::Withdrawn)));
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_took_the_name_meanwhile_is_not_what_was_approved() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    let other = Probe::default();
    registry.register(provider("q", [writing("write", &other)]), settings(|_| ())).await.unwrap();
    registry.unregister("p").await.unwrap();
    assert_eq!(statuses(&registry.dispatch(in_session(["write"])).await), [ApprovalRequired], "the name leads to q");
    assert!(registry.approvals().approve(&id, "ann").await.is_err());
    assert_eq!((probe.entered(), other.entered()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn approvals_of_a_batch_that_is_cancelled_are_withdrawn() {
    let probe = Probe::default();
    let registry = registry([writing("write", &probe), hanging("hang", &probe)]).await;
    let ids = || async {
        let filter = toolyard::ApprovalFilter { state: None, ..Default::default() };
        let all = registry.approvals().list(&filter).await.unwrap();
        all.into_iter().map(|approval| approval.state).collect::<Vec<_>>()
    };
    // Dropped by its caller.
    let left = tokio::time::timeout(ms(10), registry.dispatch(in_session(["write", "hang"]))).await;
    assert!(left.is_err());
    assert_eq!(ids().await, [ApprovalState::Withdrawn]);
    let handle = registry.start(in_session(["write", "hang"])).await.unwrap();
    super::pending(&registry.approvals()).await;
    handle.cancel();
    assert_eq!(statuses(&handle.outcome().await.unwrap()), [ApprovalRequired, Cancelled]);
    assert_eq!(ids().await, [ApprovalState::Withdrawn; 2]);
    // The session has ended.
    ask(&registry, "write").await;
    registry.sessions().end(&session("s")).await.unwrap();
    assert_eq!(ids().await, [ApprovalState::Withdrawn; 3]);
}

#[tokio::test(start_paused = true)]
async fn rules_that_hold_now_are_applied_to_what_was_asked_before() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    change_policy(&registry, |policy| {
        policy.denied.push(DenyRule::new(ToolNames::new(["p.write"])));
    });
    assert_eq!(approve(&registry, &id).await, Denied);
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_closing_registry_finishes_what_was_approved_and_approves_nothing_more() {
    let (registry, probe) = one_writer().await;
    let first = ask(&registry, "write").await;
    let second = ask(&registry, "write").await;
    registry.approvals().approve(&first, "ann").await.unwrap();
    let ((), time) = timed(registry.close(ms(10_000))).await;
    assert!(time < ms(10_000), "{time:?}");
    assert_eq!(registry.approvals().get(&first).await.unwrap().outcome.unwrap().status, OK);
    assert_eq!(registry.approvals().approve(&second, "ann").await, Err(ApprovalError::Closed));
    assert_eq!(probe.finished(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_no_approval_leaves_no_trace() {
    let tool = FunctionTool::from_fn("say", "", |_| async { Ok("hi".to_owned()) });
    let registry = registry([tool]).await;
    let result = run_one(&registry, "say").await;
    assert_eq!((result.status, result.approval), (OK, None));
    let all = toolyard::ApprovalFilter { state: None, ..Default::default() };
    assert_eq!(registry.approvals().list(&all).await.unwrap(), []);
}

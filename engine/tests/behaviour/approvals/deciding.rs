//! Mode `return`: the call ends with a notice, and what is decided of it holds.

use std::sync::Arc;

use serde_json::json;
use toolyard::CallStatus::{ApprovalRequired, Denied};
use toolyard::{
    Actor, ApprovalError, ApprovalFilter, ApprovalMode, ApprovalState, AskReason, Decision, Effect, ErrorCode,
    Executed, LocalText, Locale, ToolBatch, ToolExecutionContext,
};

use super::{PATIENCE, ask, change_policy, in_session, notice, one_writer, session, state_of, telling, writing};
use crate::fixture::{OK, Probe, batch, call_with, code_of, ms, registry, saying, statuses, timed};

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_approval_ends_with_its_id_and_its_siblings_go_on() {
    let probe = Probe::default();
    let registry = registry([writing("write", &probe), saying("say", "hi")]).await;
    let (outcome, time) = timed(registry.dispatch(in_session(["write", "say", "write"]))).await;
    assert_eq!(statuses(&outcome), [ApprovalRequired, OK, ApprovalRequired]);
    assert_eq!((time, probe.entered()), (ms(0), 0));
    let first = notice(&outcome, 0);
    assert_eq!((first.effect, first.reason, first.expires_in_ms), (Some(Effect::Write), AskReason::Effect, 300_000));
    assert_ne!(first.id, notice(&outcome, 2).id);
    let document = serde_json::to_value(&outcome).unwrap();
    assert_eq!(document["results"][0]["approval"]["id"], first.id.as_str());
    assert_eq!(document["results"][0]["executed"], false);
    assert!(document["results"][1].get("approval").is_none());
}

#[tokio::test(start_paused = true)]
async fn what_is_shown_is_what_runs_under_its_title_and_never_its_description() {
    let tool = telling("pay", Effect::Money).map_spec(|mut spec| {
        spec.title = Some("Pay".to_owned());
        spec.titles = LocalText { zh: Some("付款".to_owned()), ..Default::default() };
        spec
    });
    let registry = registry([tool]).await;
    let arguments = json!({"to": "Ann", "cents": 12_345_678_901_234_567_890_u64});
    let context = ToolExecutionContext {
        tenant: "t".into(),
        user_id: "u".into(),
        platform: "qq".into(),
        locale: Locale::Zh,
        ..Default::default()
    };
    let batch = ToolBatch::new(vec![call_with("c1", "pay", &arguments)]).with_context(Arc::new(context));
    let batch_id = batch.id.clone();
    let outcome = registry.dispatch(batch.with_session(session("s"))).await;
    let shown = registry.approvals().get(notice(&outcome, 0).id.as_str()).await.unwrap();
    assert_eq!((shown.title.as_str(), shown.arguments.as_str()), ("付款", arguments.to_string().as_str()));
    assert_eq!((shown.tenant.as_str(), shown.session.as_deref(), shown.user.as_str()), ("t", Some("s"), "u"));
    assert_eq!((shown.tool_id.as_str(), &*shown.provider, shown.call_id.as_str()), ("p.pay", "p", "c1"));
    assert_eq!(
        (&shown.batch_id, shown.place.platform.as_str(), shown.state),
        (&batch_id, "qq", ApprovalState::Pending)
    );
    assert!(!serde_json::to_string(&shown).unwrap().contains("What the model reads"));
    registry.approvals().approve(shown.id.as_str(), "ann").await.unwrap();
    let over = registry.approvals().outcome(shown.id.as_str()).await.unwrap().outcome.unwrap();
    assert_eq!(over.text, arguments.to_string());
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_runs_once_outside_of_its_batch_and_its_outcome_is_kept_for_a_while() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    let approvals = registry.approvals();
    let mut events = approvals.events();
    let approved = approvals.approve(&id, "ann").await.unwrap();
    assert_eq!((approved.state, approved.outcome), (ApprovalState::Started, None));
    let over = approvals.outcome(&id).await.unwrap();
    let outcome = over.outcome.clone().unwrap();
    assert_eq!((over.state, outcome.status, outcome.text.as_str()), (ApprovalState::Settled, OK, "write"));
    assert_eq!((over.decision.unwrap().by.as_str(), probe.order()), ("ann", vec!["c1".to_owned()]));
    let result = outcome.result.as_ref().unwrap();
    assert_eq!((result.duration, result.executed, result.call_id.as_str()), (ms(50), Executed::Yes, "c1"));
    let mut told = Vec::new();
    while told.last() != Some(&ApprovalState::Settled) {
        told.push(events.next().await.unwrap().state);
    }
    assert_eq!(told, [ApprovalState::Approved, ApprovalState::Started, ApprovalState::Settled]);
    assert_eq!(approvals.approve(&id, "bob").await, Err(ApprovalError::Decided(ApprovalState::Settled)));
    assert_eq!(probe.entered(), 1);
    tokio::time::sleep(std::time::Duration::from_secs(3601)).await;
    assert_eq!(approvals.get(&id).await, Err(ApprovalError::Unknown(id.clone())));
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_never_runs_its_reason_is_told_and_its_siblings_are_not_concerned() {
    let probe = Probe::default();
    let registry = registry([writing("write", &probe)]).await;
    let outcome = registry.dispatch(in_session(["write", "write"])).await;
    let (first, second) = (notice(&outcome, 0).id.as_str(), notice(&outcome, 1).id.as_str());
    let approvals = registry.approvals();
    let denied = approvals.deny(first, "ann", Some("not today")).await.unwrap();
    let told = denied.outcome.unwrap();
    assert_eq!((denied.state, told.status), (ApprovalState::Denied, Denied));
    assert!(told.text.contains("not today"), "{}", told.text);
    assert_eq!(approvals.approve(first, "ann").await, Err(ApprovalError::Decided(ApprovalState::Denied)));
    approvals.approve(second, "ann").await.unwrap();
    assert_eq!(approvals.outcome(second).await.unwrap().outcome.unwrap().status, OK);
    // The second call of the batch, and no other.
    assert_eq!(probe.order(), ["c2"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_decides_after_the_time_is_over() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    tokio::time::sleep(PATIENCE - ms(1)).await;
    assert_eq!(state_of(&registry, &id).await, ApprovalState::Pending);
    tokio::time::sleep(ms(2)).await;
    let expired = registry.approvals().get(&id).await.unwrap();
    let outcome = expired.outcome.unwrap();
    assert_eq!(expired.state, ApprovalState::Expired);
    assert_eq!(code_of(outcome.result.as_ref().unwrap()), Some(ErrorCode::PolicyApprovalExpired));
    assert_eq!(registry.approvals().approve(&id, "ann").await, Err(ApprovalError::Expired));
    assert_eq!(registry.approvals().deny(&id, "ann", None).await, Err(ApprovalError::Expired));
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn too_many_open_approvals_are_refused_and_room_comes_back() {
    let (registry, _) = one_writer().await;
    change_policy(&registry, |policy| policy.approvals.max_per_session = 2);
    let outcome = registry.dispatch(in_session(["write", "write", "write"])).await;
    assert_eq!(statuses(&outcome), [ApprovalRequired, ApprovalRequired, Denied]);
    assert_eq!((code_of(&outcome.results[2]), &outcome.results[2].approval), (Some(ErrorCode::PolicyDenied), &None));
    let other = registry.dispatch(in_session(["write"]).with_session(session("other"))).await;
    assert_eq!(statuses(&other), [ApprovalRequired], "each session has its own room");
    change_policy(&registry, |policy| policy.approvals.max_pending = 3);
    let full = registry.dispatch(in_session(["write"]).with_session(session("third"))).await;
    assert_eq!(statuses(&full), [Denied]);
    registry.approvals().deny(notice(&outcome, 0).id.as_str(), "ann", None).await.unwrap();
    assert_eq!(statuses(&registry.dispatch(in_session(["write"])).await), [ApprovalRequired]);
}

#[tokio::test(start_paused = true)]
async fn approvals_are_listed_by_tenant_session_and_state() {
    let (registry, _) = one_writer().await;
    let id = ask(&registry, "write").await;
    registry.dispatch(in_session(["write"]).with_session(session("other"))).await;
    registry.dispatch(batch(["write"])).await;
    registry.approvals().deny(&id, "ann", None).await.unwrap();
    let all = ApprovalFilter { state: None, ..Default::default() };
    let tenant = || Some("t".to_owned());
    let cases = [
        (all.clone(), 3),
        (ApprovalFilter::default(), 2),
        (ApprovalFilter { tenant: tenant(), ..all.clone() }, 2),
        (ApprovalFilter { tenant: Some("u".to_owned()), ..all.clone() }, 0),
        (ApprovalFilter { tenant: tenant(), session: Some("other".to_owned()), ..all.clone() }, 1),
        (ApprovalFilter { state: Some(ApprovalState::Denied), ..all.clone() }, 1),
        (ApprovalFilter { limit: 1, ..all }, 1),
    ];
    for (filter, count) in cases {
        assert_eq!(registry.approvals().list(&filter).await.unwrap().len(), count, "{filter:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_agreed_to_for_a_session_is_asked_no_more_there_and_nowhere_else() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    registry.approvals().approve_for_session(&id, "ann").await.unwrap();
    registry.approvals().outcome(&id).await.unwrap();
    assert_eq!(statuses(&registry.dispatch(in_session(["write"])).await), [OK]);
    assert_eq!(registry.check(&in_session(["write"]))[0].status, None);
    let other = in_session(["write"]).with_session(session("other"));
    assert_eq!(registry.check(&other)[0].status, Some(ApprovalRequired));
    assert_eq!(statuses(&registry.dispatch(other).await), [ApprovalRequired]);
    assert_eq!(probe.entered(), 2);
    registry.sessions().end(&session("s")).await.unwrap();
    assert_eq!(
        statuses(&registry.dispatch(in_session(["write"])).await),
        [ApprovalRequired],
        "it ends with the session"
    );
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_decision_hears_that_the_registry_closes() {
    let (registry, probe) = one_writer().await;
    let id = ask(&registry, "write").await;
    let (approvals, closing) = (registry.approvals(), registry.clone());
    let (outcome, ()) = tokio::join!(approvals.outcome(&id), closing.close(ms(0)));
    assert_eq!(outcome, Err(ApprovalError::Closed));
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_agreed_to_for_a_session_lifts_neither_taint_nor_a_denial() {
    let probe = Probe::default();
    let untrusted = saying("web", "click here").map_spec(|mut spec| {
        spec.flags.untrusted = true;
        spec
    });
    let registry = registry([writing("write", &probe), untrusted]).await;
    let id = ask(&registry, "write").await;
    registry.approvals().approve_for_session(&id, "ann").await.unwrap();
    registry.approvals().outcome(&id).await.unwrap();
    registry.dispatch(in_session(["web"])).await;
    let tainted = registry.dispatch(in_session(["write"])).await;
    assert_eq!((statuses(&tainted), notice(&tainted, 0).reason), (vec![ApprovalRequired], AskReason::Tainted));
    change_policy(&registry, |policy| policy.effects.model.write = Decision::Deny);
    assert_eq!(statuses(&registry.dispatch(in_session(["write"])).await), [Denied]);
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_session_can_be_approved_alone_and_never_waits() {
    let (registry, probe) = one_writer().await;
    let outcome = registry.dispatch(batch(["write"]).with_approvals(ApprovalMode::Wait)).await;
    assert_eq!(statuses(&outcome), [ApprovalRequired]);
    let id = notice(&outcome, 0).id.as_str();
    assert_eq!(registry.approvals().approve_for_session(id, "ann").await, Err(ApprovalError::NoSession));
    registry.approvals().approve(id, "ann").await.unwrap();
    assert_eq!(registry.approvals().outcome(id).await.unwrap().outcome.unwrap().status, OK);
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_person_is_never_asked_and_a_scheduler_has_nobody_to_ask() {
    let (registry, probe) = one_writer().await;
    for (actor, status) in [(Actor::User, OK), (Actor::Scheduler, Denied)] {
        let context = ToolExecutionContext { actor, ..Default::default() };
        let outcome = registry.dispatch(in_session(["write"]).with_context(Arc::new(context))).await;
        assert_eq!(statuses(&outcome), [status], "{actor:?}");
    }
    assert_eq!(probe.entered(), 1);
    assert_eq!(registry.approvals().list(&ApprovalFilter::default()).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn looking_at_a_batch_asks_nobody() {
    let (registry, _) = one_writer().await;
    let checked = registry.check(&in_session(["write"]));
    assert_eq!((checked[0].runs, checked[0].status), (false, Some(ApprovalRequired)));
    assert_eq!(registry.approvals().list(&ApprovalFilter::default()).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn ids_that_nobody_has_are_unknown() {
    let (registry, _) = one_writer().await;
    let unknown = || ApprovalError::Unknown("approval_1".to_owned());
    let approvals = registry.approvals();
    assert_eq!(approvals.get("approval_1").await, Err(unknown()));
    assert_eq!(approvals.approve("approval_1", "ann").await, Err(unknown()));
    assert_eq!(approvals.deny("approval_1", "ann", None).await, Err(unknown()));
    assert_eq!(approvals.outcome("approval_1").await, Err(unknown()));
}

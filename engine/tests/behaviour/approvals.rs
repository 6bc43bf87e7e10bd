//! Calls that a person has to agree to: nothing runs before they do, and then exactly what they were shown, once.

mod deciding;
mod properties;
mod racing;
mod restart;
mod running;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use toolyard::{
    Approval, ApprovalControl, ApprovalFilter, ApprovalMode, ApprovalNotice, ApprovalState, BatchOutcome, Effect,
    FunctionTool, Policy, SessionKey, ToolBatch, ToolExecutionContext, ToolExecutionResult, ToolRegistry, ToolSpec,
};

use crate::fixture::{Probe, batch, ms, registry, sleeper};

/// How long a person has by default.
const PATIENCE: Duration = Duration::from_secs(300);

fn session(name: &str) -> SessionKey {
    SessionKey { tenant: "t".into(), session: name.into() }
}

/// A declaration with this effect.
fn spec(name: &str, effect: Option<Effect>) -> ToolSpec {
    let mut spec = ToolSpec::new(name, "What the model reads.");
    spec.effect = effect;
    spec
}

/// The same tool, which changes something.
fn acting(tool: FunctionTool) -> FunctionTool {
    tool.map_spec(|mut spec| {
        spec.effect = Some(Effect::Write);
        spec
    })
}

/// A tool that changes something, and takes 50 ms to do so.
fn writing(name: &str, probe: &Probe) -> FunctionTool {
    acting(sleeper(name, ms(50), probe))
}

/// A tool with this effect that gives its arguments back as text.
fn telling(name: &str, effect: Effect) -> FunctionTool {
    FunctionTool::new(spec(name, Some(effect)), |invocation, _| {
        let text = invocation.arguments().text().to_owned();
        std::future::ready(Ok(ToolExecutionResult::success(text)))
    })
}

fn in_session<'a>(tools: impl IntoIterator<Item = &'a str>) -> ToolBatch {
    let context = ToolExecutionContext { tenant: "t".to_owned(), user_id: "u".to_owned(), ..Default::default() };
    batch(tools).with_session(session("s")).with_context(Arc::new(context))
}

fn waiting_batch<'a>(tools: impl IntoIterator<Item = &'a str>) -> ToolBatch {
    in_session(tools).with_approvals(ApprovalMode::Wait)
}

fn notice(outcome: &BatchOutcome, index: usize) -> &ApprovalNotice {
    outcome.results[index].approval.as_deref().unwrap()
}

/// Asks for `tool` and gives the id of the approval.
async fn ask(registry: &ToolRegistry, tool: &str) -> String {
    let outcome = registry.dispatch(in_session([tool])).await;
    notice(&outcome, 0).id.to_string()
}

/// The only approval that is pending, once there is one.
async fn pending(approvals: &ApprovalControl) -> Approval {
    for _ in 0..1000 {
        if let Some(approval) = approvals.list(&ApprovalFilter::default()).await.unwrap().pop() {
            return approval;
        }
        tokio::time::sleep(ms(1)).await;
    }
    panic!("nobody was asked");
}

async fn state_of(registry: &ToolRegistry, id: &str) -> ApprovalState {
    registry.approvals().get(id).await.unwrap().state
}

fn change_policy(registry: &ToolRegistry, change: impl FnOnce(&mut Policy)) {
    let mut policy = Policy::clone(&registry.policy());
    change(&mut policy);
    registry.set_policy(policy);
}

async fn one_writer() -> (ToolRegistry, Probe) {
    let probe = Probe::default();
    (registry([writing("write", &probe)]).await, probe)
}

//! check: what a batch would do, without doing it.

use std::sync::Arc;

use serde::Serialize;
use tokio::time::Instant;

use super::plan::{Passed, Planner};
use crate::call::{CallId, ToolBatch};
use crate::engine::Engine;
use crate::gate::{Caller, Charging};
use crate::json::JsonText;
use crate::registry::RoutingTable;
use crate::result::{CallError, CallStatus, Repair};
use crate::session::SessionView;
use crate::text;
use crate::tool::ToolId;

/// What one call would do.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedCall {
    /// Place in the batch, from 0.
    pub index: usize,
    /// The call's id.
    pub call_id: CallId,
    /// The name under which the model called the tool.
    pub tool: Arc<str>,
    /// Where the call would go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_id: Option<ToolId>,
    /// Whether it would run.
    pub runs: bool,
    /// How it would end without running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    /// Why it would not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
    /// The arguments that its tool would get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<JsonText>,
    /// What would be mended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// What the vendor wants back with the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<JsonText>,
}

/// Takes every call of a batch through the gates and runs none.
pub(crate) fn check(engine: &Engine, batch: &ToolBatch) -> Vec<CheckedCall> {
    check_in(engine, &engine.table.load(), batch, Charging::Nothing)
}

/// The same in this table.
pub(crate) fn check_in(
    engine: &Engine,
    table: &RoutingTable,
    batch: &ToolBatch,
    charging: Charging,
) -> Vec<CheckedCall> {
    let policy = engine.policy.load_full();
    let session = batch.session.as_ref().and_then(|key| engine.sessions.get(key));
    let mut context = Arc::clone(&batch.context);
    if let Some(session) = &session {
        session.fill(&mut context);
    }
    let caller = Caller::new(&context, &policy, peek(engine, batch)).among(table.findable);
    let caller = caller.with_source(session.as_deref(), None);
    let mut planner = Planner::new(engine, table, batch, caller, Instant::now(), usize::MAX, charging);
    let mut checked = Vec::with_capacity(batch.calls.len());
    for (index, call) in batch.calls.iter().enumerate() {
        let (route, renamed) = planner.resolve(&call.name);
        let admission = planner.check(index, &call.name, call.arguments.clone(), route, renamed);
        let (arguments, repairs, error) = match admission {
            Ok(Passed { ask: Some(reason), route, .. }) => {
                let spec = &table.routes[route].tool.spec;
                (None, Vec::new(), Some(text::approval_required(batch.context.locale, spec, reason)))
            }
            Ok(Passed { arguments, repairs, .. }) => (Some(arguments.json().clone()), repairs, None),
            Err(refusal) => (None, Vec::new(), Some(*refusal.error)),
        };
        checked.push(CheckedCall {
            index,
            call_id: call.call_id.clone(),
            tool: Arc::clone(&call.name),
            tool_id: route.map(|route| table.routes[route].tool.origin.tool_id.clone()),
            runs: error.is_none(),
            status: error.as_ref().map(|error| error.code.status()),
            error,
            arguments,
            repairs,
            opaque: call.opaque.clone(),
        });
    }
    checked
}

/// The session as it is, without beginning a turn.
fn peek(engine: &Engine, batch: &ToolBatch) -> Option<SessionView> {
    let mut view = SessionView::of(&engine.sessions, batch.session.as_ref()?);
    if batch.all_loaded {
        view.loaded = None;
    }
    Some(view)
}

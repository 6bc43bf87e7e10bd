//! Gate: the model has found the tool, where it has to be found first.

use super::{Caller, Gate, Refusal};
use crate::policy::Undiscovered;
use crate::registry::PreparedTool;
use crate::text;
use crate::tool::Visibility;

/// Whether the definition may be shown: what is loaded is shown, whatever becomes of calls of the rest.
pub(super) fn may_list(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    if is_found(tool, caller) {
        return Ok(());
    }
    Err(Gate::Loaded.refuse(text::not_loaded(caller.context.locale, tool)))
}

#[inline]
pub(super) fn check(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    if caller.policy.discovery.undiscovered == Undiscovered::Allow {
        return Ok(());
    }
    may_list(tool, caller)
}

/// Whether a model has to find the tool first.
pub(crate) fn is_deferred(tool: &PreparedTool) -> bool {
    tool.spec.visibility == Some(Visibility::Deferred) || tool.spec.flags.on_demand
}

/// Whether the caller need not find the tool, or has done so.
pub(crate) fn is_found(tool: &PreparedTool, caller: &Caller<'_>) -> bool {
    if !is_deferred(tool) || !caller.is_model() {
        return true;
    }
    let loaded = caller.session.as_ref().and_then(|session| session.loaded.as_ref());
    loaded.is_none_or(|loaded| {
        loaded.has_tool(tool.origin.tool_id.as_str())
            || (tool.spec.flags.on_demand && loaded.has_provider(&tool.handle.name))
    })
}

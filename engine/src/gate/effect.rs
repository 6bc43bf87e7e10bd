//! Gate: what the tool does to the world may happen unasked, or a person agrees first.

use serde::{Deserialize, Serialize};

use super::{Caller, Gate, Refusal};
use crate::call::Actor;
use crate::policy::Decision;
use crate::registry::PreparedTool;
use crate::text;
use crate::tool::Effect;

/// Why a person has to agree to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskReason {
    /// Its effect is one that the user is asked about.
    Effect,
    /// Text of third parties has reached the model in this turn, and the call changes something.
    Tainted,
}

/// Whether the definition may be shown: what may happen after a person agreed is shown.
pub(super) fn may_list(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    if decide(tool, caller) == Decision::Deny { Err(refusal(tool, caller)) } else { Ok(()) }
}

/// Whether the call may run unasked, or why a person has to agree first.
#[inline]
pub(super) fn check(tool: &PreparedTool, caller: &Caller<'_>) -> Result<Option<AskReason>, Refusal> {
    match decide(tool, caller) {
        Decision::Deny => Err(refusal(tool, caller)),
        // Before asking for the effect alone: what a person agreed to for a whole session does not lift taint.
        Decision::Ask | Decision::Allow if is_tainted(tool, caller) => Ok(Some(AskReason::Tainted)),
        Decision::Ask => Ok(Some(AskReason::Effect)),
        Decision::Allow => Ok(None),
    }
}

fn decide(tool: &PreparedTool, caller: &Caller<'_>) -> Decision {
    match (caller.context.actor, caller.effects.of(tool.spec.effect)) {
        (Actor::User, _) => Decision::Allow,
        (Actor::Scheduler, Decision::Ask) => Decision::Deny,
        (_, decision) => decision,
    }
}

/// Reading and what declares no effect go on in a tainted turn; a scheduler is in no turn.
fn is_tainted(tool: &PreparedTool, caller: &Caller<'_>) -> bool {
    caller.is_model()
        && caller.session.as_ref().is_some_and(|session| session.tainted)
        && matches!(tool.spec.effect, Some(Effect::Write | Effect::Money | Effect::Public))
}

fn refusal(tool: &PreparedTool, caller: &Caller<'_>) -> Refusal {
    Gate::Effect.refuse(text::effect_denied(caller.context.locale, &tool.spec.name, tool.spec.effect))
}

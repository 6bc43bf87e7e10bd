//! Gate: whoever acts may use the tool at all. A guessed name helps nobody.

use super::{Gate, Refusal};
use crate::call::{Actor, ToolExecutionContext};
use crate::registry::PreparedTool;
use crate::text;
use crate::tool::Visibility;

#[inline]
pub(super) fn check(tool: &PreparedTool, context: &ToolExecutionContext) -> Result<(), Refusal> {
    if context.actor == Actor::User {
        return Ok(());
    }
    if tool.spec.flags.user_only {
        return Err(Gate::Actor.refuse(text::user_only(context.locale, &tool.spec.name)));
    }
    if tool.spec.visibility == Some(Visibility::Hidden) {
        return Err(Gate::Actor.refuse(text::hidden(context.locale, &tool.spec.name)));
    }
    Ok(())
}

//! Gate: whoever acts may use the tool at all. A guessed name helps nobody.

use super::{Gate, Refusal};
use crate::call::{Actor, ToolExecutionContext};
use crate::registry::PreparedTool;
use crate::result::{CallError, ErrorCode};
use crate::tool::Visibility;

pub(super) fn check(tool: &PreparedTool, context: &ToolExecutionContext) -> Result<(), Refusal> {
    if context.actor == Actor::User {
        return Ok(());
    }
    let (code, message) = if tool.spec.flags.user_only {
        (ErrorCode::PolicyUserOnly, format!("only the user can start the tool `{}`", tool.spec.name))
    } else if tool.spec.visibility == Some(Visibility::Hidden) {
        (
            ErrorCode::PolicyHidden,
            format!("the tool `{}` is hidden; call one of the tools that are listed", tool.spec.name),
        )
    } else {
        return Ok(());
    };
    Err(Gate::Actor.refuse(CallError::new(code, message)))
}

//! Gate: the provider says that its tools can be used in this chat.

use super::{Caller, Gate, Refusal};
use crate::isolate;
use crate::registry::PreparedTool;
use crate::result::{CallError, ErrorCode};

/// A provider whose predicate panics is not available; its panic costs nobody else anything.
#[inline]
pub(super) fn check(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    let context = caller.availability();
    let reason = match isolate::catch(|| tool.handle.invoker.availability(&tool.spec, &context)) {
        Ok(None) => return Ok(()),
        Ok(Some(reason)) => reason.0,
        Err(_) => "its availability check panicked".to_owned(),
    };
    let message = format!("the tool `{}` is not available here: {reason}", tool.spec.name);
    Err(Gate::Availability.refuse(CallError::new(ErrorCode::ToolUnavailable, message)))
}

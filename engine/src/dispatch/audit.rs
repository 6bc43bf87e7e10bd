//! Audit: what policy refuses is told in the log, with who asked for what; never with the arguments.

use crate::call::{ToolCall, ToolExecutionContext};
use crate::gate::Refusal;
use crate::result::ErrorCode;
use crate::text::short;

/// Mistakes that models make every day are left to the metrics.
pub(super) fn refused(refusal: &Refusal, call: &ToolCall, context: &ToolExecutionContext) {
    let code = refusal.error.code;
    if !matches!(
        code,
        ErrorCode::PolicyDenied | ErrorCode::PolicyUserOnly | ErrorCode::PolicyHidden | ErrorCode::PolicySourceMessage
    ) {
        return;
    }
    tracing::info!(
        target: "toolyard::audit",
        gate = refusal.gate.as_str(),
        code = code.as_str(),
        tool = ?short(&call.name),
        call_id = ?short(call.call_id.as_str()),
        actor = ?context.actor,
        tenant = ?short(&context.tenant),
        user = ?short(&context.user_id),
        role = ?short(&context.role),
        session = ?short(&context.session_id),
        "policy refused a call"
    );
}

//! hint: what a failed call of a tool is told that its model has not found first.

use super::RunningBatch;
use super::settled::Settled;
use crate::gate;
use crate::policy::Undiscovered;
use crate::registry::PreparedTool;
use crate::result::CallStatus;
use crate::text;

/// Where such calls run (see [`Undiscovered::Allow`]), the model most likely guessed how: it is told how to know.
pub(super) fn add(settled: &mut Settled, tool: &PreparedTool, batch: &RunningBatch) {
    let is_guess = matches!(settled.status, CallStatus::ToolError | CallStatus::InvalidArguments);
    if !is_guess || batch.policy.discovery.undiscovered != Undiscovered::Allow || !gate::is_deferred(tool) {
        return;
    }
    if gate::is_found(tool, &batch.caller()) {
        return;
    }
    let hint = text::discovery::hint(batch.context.locale, tool);
    let appended = |text: &str| format!("{text}\n{hint}");
    if let Some(error) = &mut settled.error {
        error.message = appended(&error.message).into();
    }
    let result = &mut settled.result;
    result.error_message = result.error_message.as_deref().map(appended);
    // Where the tool gave something of its own, the model sees that instead of the error.
    if !result.content.trim().is_empty() {
        result.content = appended(&result.content);
    } else if let (Some(structured), true) = (&result.structured_content, result.content_items.is_empty()) {
        result.content = appended(structured.as_str());
    }
}

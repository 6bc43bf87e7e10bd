//! `wait`: waits, within the deadline of the call.

use std::time::Duration;

use serde_json::json;
use toolyard::{CallContext, ExecutionClass, InvokeResult, LocalText, ToolExecutionResult, ToolInvocation, ToolSpec};

use super::BuiltinTool;

const DEFAULT_SECONDS: u64 = 30;
const MAX_SECONDS: u64 = 600;

pub(super) fn entry() -> BuiltinTool {
    let spec = ToolSpec::new("wait", "Waits for some seconds before the turn goes on.")
        .with_parameters(json!({
            "type": "object",
            "properties": {
                "seconds": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_SECONDS,
                    "default": DEFAULT_SECONDS,
                    "description": "How long to wait."
                }
            },
            "additionalProperties": false
        }))
        .with_execution(ExecutionClass::Io)
        // Its own deadline must not cut the longest wait that it allows.
        .with_timeout(Duration::from_secs(MAX_SECONDS + 1))
        .with_titles(LocalText::new("等待", "Wait"));
    BuiltinTool::new(spec, run)
}

/// Dropping the future ends the wait.
async fn run(invocation: ToolInvocation, _context: CallContext) -> InvokeResult {
    let seconds = invocation.arguments().value()["seconds"].as_u64().unwrap_or(DEFAULT_SECONDS);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Ok(ToolExecutionResult::success(format!("waited {seconds} s")))
}

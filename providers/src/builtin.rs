//! The built-in tools: `finish` and `wait` (seed 001, section 4.3).

use std::time::Duration;

use serde_json::json;
use toolyard::{
    CallContext, ExecutionClass, FunctionProvider, FunctionTool, InvokeResult, ProviderKind, ToolExecutionResult,
    ToolInvocation, ToolSpec,
};

const KIND: ProviderKind = ProviderKind::new("builtin");
const WAIT_DEFAULT_SECONDS: u64 = 30;
const WAIT_MAX_SECONDS: u64 = 600;

/// The provider of the built-in tools, named `builtin`.
pub fn builtin_provider() -> FunctionProvider {
    FunctionProvider::with_kind("builtin", KIND).with_tool(finish()).with_tool(wait())
}

/// Ends the run of the planner once the batch is done.
fn finish() -> FunctionTool {
    let mut spec = ToolSpec::new(
        "finish",
        "Ends this turn once all calls of the batch are done. Use it when nothing is left to do until a new message comes.",
    )
    .with_execution(ExecutionClass::Inline);
    spec.title = Some("结束本轮 / Finish".to_owned());
    FunctionTool::new(spec, |_invocation, _context| {
        std::future::ready(Ok(ToolExecutionResult::success("the turn ends").stopping()))
    })
}

/// Waits, within the deadline of the call.
fn wait() -> FunctionTool {
    let mut spec = ToolSpec::new("wait", "Waits for some seconds before the turn goes on.")
        .with_parameters(json!({
            "type": "object",
            "properties": {
                "seconds": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": WAIT_MAX_SECONDS,
                    "default": WAIT_DEFAULT_SECONDS,
                    "description": "How long to wait."
                }
            },
            "additionalProperties": false
        }))
        .with_execution(ExecutionClass::Io)
        // Its own deadline must not cut the longest wait that it allows.
        .with_timeout(Duration::from_secs(WAIT_MAX_SECONDS + 1));
    spec.title = Some("等待 / Wait".to_owned());
    FunctionTool::new(spec, run_wait)
}

async fn run_wait(invocation: ToolInvocation, _context: CallContext) -> InvokeResult {
    let seconds = invocation.arguments().value()["seconds"].as_u64().unwrap_or(WAIT_DEFAULT_SECONDS);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Ok(ToolExecutionResult::success(format!("waited {seconds} s")))
}

//! Scripted tools in this process: they wait, compute and end as the scenario says.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use toolyard::{ErrorCode, FunctionTool, InvokeResult, ToolExecutionResult, ToolFailure, ToolSpec};

use crate::scenario::{End, Tool, Way};

/// What a tool that panics says; the panic hook keeps silent about it.
pub(crate) const SCRIPTED_PANIC: &str = "this tool panics because the scenario says so";

/// A tool of the engine that goes its way.
pub(super) fn function_tool(tool: &Tool, seed: u64) -> FunctionTool {
    let mut spec = ToolSpec::new(tool.name.as_str(), "A tool of a load scenario.");
    spec.execution = Some(tool.class.into());
    spec.timeout = tool.timeout;
    spec.max_in_flight = tool.max_in_flight;
    spec.effect = Some(toolyard::Effect::Read);
    let (way, calls) = (tool.way, AtomicU64::new(seed));
    if way == Way::default() {
        return FunctionTool::new(spec, |_, _| std::future::ready(Ok(ToolExecutionResult::success("done"))));
    }
    FunctionTool::new(spec, move |_invocation, _context| {
        // Call n of a tool waits as long in every run of a seed.
        let mut random = fastrand::Rng::with_seed(calls.fetch_add(1, Ordering::Relaxed));
        let wait = way.wait.draw(&mut random);
        go(wait, way.cpu, way.end)
    })
}

async fn go(wait: Duration, cpu: Duration, end: End) -> InvokeResult {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    if !cpu.is_zero() {
        let until = Instant::now() + cpu;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
    }
    match end {
        End::Ok => Ok(ToolExecutionResult::success("done")),
        End::Error => Ok(ToolExecutionResult::failure("this tool fails because the scenario says so")),
        End::Break => Err(ToolFailure::new(ErrorCode::ProviderProtocol, "the provider breaks here")),
        End::Panic => std::panic::panic_any(SCRIPTED_PANIC),
        End::Hang => std::future::pending().await,
    }
}

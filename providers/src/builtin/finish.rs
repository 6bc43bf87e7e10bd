//! `finish`: ends the run of the planner once the batch is done.

use toolyard::{ExecutionClass, LocalText, ToolExecutionResult, ToolSpec};

use super::BuiltinTool;

pub(super) fn entry() -> BuiltinTool {
    let spec = ToolSpec::new(
        "finish",
        "Ends this turn once all calls of the batch are done. Use it when nothing is left to do until a new message comes.",
    )
    .with_execution(ExecutionClass::Inline)
    .with_titles(LocalText::new("结束本轮", "Finish"));
    BuiltinTool::new(spec, |_invocation, _context| {
        std::future::ready(Ok(ToolExecutionResult::success("the turn ends").stopping()))
    })
}

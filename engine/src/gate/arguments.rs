//! Gate: the arguments can be read and fit the tool's schema.

use super::{Gate, Refusal};
use crate::call::{Arguments, CallPolicy, ToolCall, read_arguments};
use crate::limits::Limits;
use crate::registry::PreparedTool;
use crate::result::{CallError, Repair};

pub(super) fn check(
    tool: &PreparedTool,
    call: &ToolCall,
    policy: &CallPolicy,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), Refusal> {
    read(tool, call, policy, limits).map_err(|error| Gate::Arguments.refuse(error))
}

fn read(
    tool: &PreparedTool,
    call: &ToolCall,
    policy: &CallPolicy,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), CallError> {
    let (arguments, mut repairs) = read_arguments(&call.arguments, policy.profile, limits)?;
    let (arguments, coerced) = tool.schema.admit(arguments, policy, limits)?;
    repairs.extend(coerced);
    Ok((arguments, repairs))
}

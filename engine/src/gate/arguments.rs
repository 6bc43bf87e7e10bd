//! Gate: the arguments can be read and fit the tool's schema.

use super::{Gate, Refusal};
use crate::call::{Arguments, Profile, ToolCall, read_arguments};
use crate::limits::Limits;
use crate::registry::PreparedTool;
use crate::result::Repair;

pub(super) fn check(
    tool: &PreparedTool,
    call: &ToolCall,
    profile: Profile,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), Refusal> {
    let (arguments, repairs) =
        read_arguments(&call.arguments, profile, limits).map_err(|error| Gate::Arguments.refuse(error))?;
    tool.schema.check(&arguments).map_err(|error| Gate::Arguments.refuse(error))?;
    Ok((arguments, repairs))
}

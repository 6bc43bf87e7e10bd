//! Gate: the arguments can be read and fit the tool's schema.

use super::{Gate, Refusal};
use crate::call::{Arguments, CallPolicy, RawArguments, read_arguments};
use crate::limits::Limits;
use crate::registry::PreparedTool;
use crate::result::{CallError, Repair};

#[inline]
pub(super) fn check(
    tool: &PreparedTool,
    raw: RawArguments,
    policy: &CallPolicy,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), Refusal> {
    match raw {
        // There is nothing to read, and whether the schema admits that is known.
        RawArguments::Text(text) if *text == *Arguments::NO_KEYS && tool.schema.admits_none() => {
            Ok((Arguments::without_keys(text), Vec::new()))
        }
        raw => read(tool, raw, policy, limits).map_err(|error| Gate::Arguments.refuse(error)),
    }
}

#[inline(never)]
fn read(
    tool: &PreparedTool,
    raw: RawArguments,
    policy: &CallPolicy,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), CallError> {
    let (arguments, mut repairs) = read_arguments(raw, policy.profile, limits)?;
    let (arguments, coerced) = tool.schema.admit(arguments, policy, limits)?;
    if !coerced.is_empty() {
        repairs.extend(coerced);
    }
    Ok((arguments, repairs))
}

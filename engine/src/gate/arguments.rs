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
    repairs: &mut Vec<Repair>,
) -> Result<Arguments, Refusal> {
    match raw {
        // There is nothing to read, and whether the schema admits that is known.
        RawArguments::Text(text) if *text == *Arguments::NO_KEYS && tool.schema.admits_none() => {
            Ok(Arguments::without_keys(text))
        }
        raw => read(tool, raw, policy, limits, repairs).map_err(|error| Gate::Arguments.refuse(error)),
    }
}

#[inline(never)]
fn read(
    tool: &PreparedTool,
    raw: RawArguments,
    policy: &CallPolicy,
    limits: &Limits,
    repairs: &mut Vec<Repair>,
) -> Result<Arguments, CallError> {
    let (arguments, mended) = read_arguments(raw, policy.profile, limits)?;
    repairs.extend(mended);
    let (arguments, coerced) = tool.schema.admit(arguments, policy, limits)?;
    repairs.extend(coerced);
    Ok(arguments)
}

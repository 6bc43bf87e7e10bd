//! Gate: nobody has to approve the tool first.

use super::{Gate, Refusal};
use crate::call::Locale;
use crate::registry::PreparedTool;
use crate::text;

#[inline]
pub(super) fn check(tool: &PreparedTool, locale: Locale) -> Result<(), Refusal> {
    match &tool.spec.withheld {
        None => Ok(()),
        Some(reason) => Err(Gate::Withheld.refuse(text::withheld_tool(locale, &tool.spec.name, reason))),
    }
}

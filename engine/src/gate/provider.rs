//! Gate: the provider is up.

use super::{Gate, Refusal};
use crate::call::Locale;
use crate::registry::PreparedTool;

#[inline]
pub(super) fn check(tool: &PreparedTool, locale: Locale) -> Result<(), Refusal> {
    if tool.handle.is_plainly_up() {
        return Ok(());
    }
    match tool.handle.why_down(locale) {
        None => Ok(()),
        Some(error) => Err(Gate::Provider.refuse(error)),
    }
}

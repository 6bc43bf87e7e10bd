//! Gate: the provider is up.

use super::{Gate, Refusal};
use crate::call::Locale;
use crate::registry::PreparedTool;

pub(super) fn check(tool: &PreparedTool, locale: Locale) -> Result<(), Refusal> {
    match tool.handle.why_down(locale) {
        None => Ok(()),
        Some(error) => Err(Gate::Provider.refuse(error)),
    }
}

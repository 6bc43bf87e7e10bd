//! What a registry says of its deferred tools.

use super::{ToolQuery, ToolRegistry};
use crate::dialect::{DefinitionForm, StrictMode};
use crate::discovery::{self, Catalogue, FoundTool, Guides, Preview, Previewer, SearchError};

// === impl ToolRegistry ===

impl ToolRegistry {
    /// The deferred tools that the caller may use and has not loaded. Empty without a session: everything counts as loaded
    /// then.
    pub fn catalogue<'q>(&self, query: impl Into<ToolQuery<'q>>) -> Catalogue {
        let (query, policy, table) = (query.into(), self.engine.policy.load(), self.engine.table.load());
        discovery::catalogue(&table, &query.caller(&self.engine, &policy))
    }

    /// Looks for deferred tools that the caller could use, the best first; those that it has loaded are found too, and
    /// marked. Loads nothing: see [`crate::SessionControl::load`].
    ///
    /// `limit` is policy's where absent, and bounded. A search of 5,000 tools takes about a millisecond; the first one
    /// after the tools have changed prepares their texts.
    ///
    /// # Errors
    /// The query is blank or too long.
    pub fn search_tools<'q>(
        &self,
        query: impl Into<ToolQuery<'q>>,
        text: &str,
        limit: Option<usize>,
    ) -> Result<Vec<FoundTool>, SearchError> {
        let (query, policy, table) = (query.into(), self.engine.policy.load(), self.engine.table.load());
        discovery::search(&table, &query.caller(&self.engine, &policy), text, limit)
    }

    /// What the caller's model is told by the plugins whose tools it may use, sorted by provider. A guide comes with the
    /// first tool of its plugin that is listed, and goes with the last one or with its plugin.
    pub fn guides<'q>(&self, query: impl Into<ToolQuery<'q>>) -> Guides {
        let (query, policy, table) = (query.into(), self.engine.policy.load(), self.engine.table.load());
        discovery::guides(&table, &query.caller(&self.engine, &policy))
    }

    /// Every tool as the caller's model would see it, or the first reason why it would not.
    pub fn preview<'q>(
        &self,
        query: impl Into<ToolQuery<'q>>,
        form: impl Into<DefinitionForm>,
        strict: Option<StrictMode>,
    ) -> Preview {
        let (query, policy, table) = (query.into(), self.engine.policy.load(), self.engine.table.load());
        let caller = query.caller(&self.engine, &policy);
        Previewer { table: &table, caller: &caller, form: form.into(), strict }.preview(&self.providers())
    }
}

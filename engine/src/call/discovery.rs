//! What a tool may ask about the other tools: for those that load others.

use crate::discovery::{self, Catalogue, CataloguePlugin, FoundTool, SearchError};
use crate::policy::Ranking;

use super::CallContext;

// === impl CallContext ===

impl CallContext {
    /// The deferred tools that this caller may use and had not loaded when the batch started.
    ///
    /// Like all that is here, it is of the tools, the policy and the session as the batch sees them. To load what is found,
    /// return a result [`loading`](crate::ToolExecutionResult::loading) it; it can be called from the next batch on.
    pub fn catalogue(&self) -> Catalogue {
        discovery::catalogue(&self.batch.table, &self.batch.caller())
    }

    /// The plugins whose tools are loaded together, with what the caller may use of them, loaded or not.
    pub fn plugins(&self) -> Vec<CataloguePlugin> {
        discovery::plugins(&self.batch.table, &self.batch.caller())
    }

    /// Looks for deferred tools that the caller could use, the best first, those that are loaded too; see
    /// [`crate::ToolRegistry::search_tools`].
    ///
    /// # Errors
    /// The query is blank or too long.
    pub fn search_tools(&self, query: &str, limit: Option<usize>) -> Result<Vec<FoundTool>, SearchError> {
        discovery::search(&self.batch.table, &self.batch.caller(), query, limit)
    }

    /// How searches rank what they find.
    pub fn ranking(&self) -> Ranking {
        self.batch.policy.discovery.ranking
    }
}

//! Context providers of a registry.

use std::sync::Arc;

use super::{ToolQuery, ToolRegistry};
use crate::context::{self, ContextProvider, ContextRequest, GatheredContext, KeyValueStore};

// === impl ToolRegistry ===

impl ToolRegistry {
    /// Adds a context provider; one of the same name is replaced. Says whether there was room: there may be 64.
    pub fn add_context_provider(&self, provider: Arc<dyn ContextProvider>) -> bool {
        self.engine.contexts.add(provider)
    }

    /// Takes a context provider out. Says whether there was one of this name.
    pub fn remove_context_provider(&self, name: &str) -> bool {
        self.engine.contexts.remove(name)
    }

    /// Keeps what context providers store in this store from now on, instead of in memory.
    pub fn set_key_value_store(&self, store: Arc<dyn KeyValueStore>) {
        self.engine.contexts.set_store(store);
    }

    /// Asks every context provider that may speak where the turn takes place, all at once, and gives what came in time:
    /// before [`crate::ContextPolicy::timeout`]. Those that are late, fail or panic cost only what they had to say.
    ///
    /// Dropping the future gives all of them up.
    pub async fn gather_context(&self, request: ContextRequest) -> GatheredContext {
        let policy = self.engine.policy.load_full();
        let asked = {
            let query = ToolQuery { context: &request.context, session: None };
            let caller = query.caller(&self.engine, &policy);
            self.engine.contexts.all().into_iter().filter(|provider| caller.hears(provider.name())).collect()
        };
        context::gather(&self.engine, asked, &policy.context, request).await
    }
}

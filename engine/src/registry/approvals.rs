//! The registry's side of approvals and of what outlives the process.

use std::sync::Arc;

use super::ToolRegistry;
use crate::actor::RegistryMailbox;
use crate::approval::ApprovalControl;
use crate::engine::Engine;
use crate::limits::Limits;
use crate::provider::HostPort;
use crate::session::Stores;

// === impl ToolRegistry ===

impl ToolRegistry {
    /// Starts an engine whose sessions and approvals outlive it in these stores.
    pub fn with_stores(limits: Limits, host: Arc<dyn HostPort>, stores: Stores) -> Self {
        let engine = Arc::new(Engine::new(limits, host, stores));
        let actor = RegistryMailbox::spawn(&engine);
        Self { engine, actor }
    }

    /// The approvals: calls that wait for a person, and what came of them.
    pub fn approvals(&self) -> ApprovalControl {
        ApprovalControl::new(Arc::clone(&self.engine))
    }
}

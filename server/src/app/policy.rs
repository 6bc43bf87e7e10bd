//! Telling people what in the policy cannot be meant, once the tools are known.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;
use toolyard::{ProviderState, ToolRegistry};

/// How long changes of the tools gather before the policy is held against them.
const GATHER: Duration = Duration::from_secs(1);
/// Findings that are remembered as told.
const MAX_TOLD: usize = 1000;

/// Logs every finding once, for as long as the handle is held.
pub(super) fn watch_policy(registry: &ToolRegistry) -> AbortOnDropHandle<()> {
    let registry = registry.clone();
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut changes = registry.tools_changes();
        let mut told = BTreeSet::new();
        loop {
            tokio::time::sleep(GATHER).await;
            let is_starting = registry.providers().iter().any(|provider| provider.state == ProviderState::Starting);
            // Providers that go because the daemon does leave names without tools.
            let findings = if is_starting || registry.is_closing() { Vec::new() } else { registry.policy_findings() };
            for finding in findings {
                if told.len() < MAX_TOLD && !told.contains(&finding) {
                    tracing::warn!("policy: {finding}");
                    told.insert(finding);
                }
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }))
}

//! `[builtin]`: Toolyard's own tools where no provider of the kind is configured.

use serde::Deserialize;
use serde_json::json;
use toolyard_providers::BuiltinName;

use super::provider::{ProviderConfig, ProviderKindConfig};

/// The name of its provider.
const NAME: &str = "builtin";

/// Toolyard's own tools where no provider of the kind is configured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BuiltinConfig {
    enabled: bool,
    /// Default those that load other tools: they are offered only where there is something to load.
    tools: Vec<BuiltinName>,
}

/// What a provider of the kind has of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BuiltinKeys {
    /// Default all.
    tools: Option<Vec<BuiltinName>>,
}

// === impl BuiltinConfig ===

impl BuiltinConfig {
    /// The provider that stands behind these, unless one of them has its place.
    pub(super) fn beside(&self, providers: &[ProviderConfig]) -> Option<ProviderConfig> {
        let is_builtin = |provider: &&ProviderConfig| matches!(provider.kind, ProviderKindConfig::Builtin(_));
        if !self.enabled || providers.iter().any(|provider| is_builtin(&provider)) {
            return None;
        }
        if providers.iter().any(|provider| provider.name == NAME) {
            tracing::warn!("a provider is named `{NAME}`: Toolyard's own tools are left out");
            return None;
        }
        let common = serde_json::from_value(json!({"name": NAME, "kind": NAME})).ok()?;
        Some(ProviderConfig::new(common, ProviderKindConfig::Builtin(self.tools.clone())))
    }
}

impl Default for BuiltinConfig {
    fn default() -> Self {
        Self { enabled: true, tools: BuiltinName::LOADING.to_vec() }
    }
}

// === impl BuiltinKeys ===

impl BuiltinKeys {
    pub(super) fn kind(self) -> ProviderKindConfig {
        ProviderKindConfig::Builtin(self.tools.unwrap_or_else(|| BuiltinName::ALL.to_vec()))
    }
}

//! What plugins see of the registry, and may do with one another.

use std::fmt;

use futures::future::BoxFuture;
use toolyard::{ToolExecutionContext, ToolRegistry};
use toolyard_providers::{DefinitionSource, PluginControl, ToolDefinition};

/// Kinds of providers that are plugins.
const PLUGINS: [&str; 3] = ["lenbot", "maibot", "xbot"];

/// The registry, as plugins see it.
pub(super) struct RegistryView {
    registry: ToolRegistry,
}

// === impl RegistryView ===

impl RegistryView {
    pub(super) fn new(registry: ToolRegistry) -> Self {
        Self { registry }
    }
}

impl DefinitionSource for RegistryView {
    fn definitions(&self) -> Vec<ToolDefinition> {
        let tools = self.registry.list_tools(&ToolExecutionContext::default());
        let definition = |tool: toolyard::ListedTool| ToolDefinition {
            name: tool.model_name.to_string(),
            description: tool.spec.description,
            parameters: tool.spec.parameters_schema,
        };
        tools.into_iter().map(definition).collect()
    }
}

impl PluginControl for RegistryView {
    fn registered(&self) -> Vec<String> {
        let providers = self.registry.providers().into_iter();
        providers.filter(|provider| PLUGINS.contains(&provider.kind)).map(|p| p.name.to_string()).collect()
    }

    fn load(&self, provider: String) -> BoxFuture<'_, Result<(), String>> {
        self.reload(provider)
    }

    /// A plugin that is taken out could only come back with the daemon: that is for people to do.
    fn unload(&self, provider: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { Err(format!("`{provider}` can only be taken out in the configuration")) })
    }

    fn reload(&self, provider: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { self.registry.reload(&provider).await.map_err(|error| error.to_string()) })
    }
}

impl fmt::Debug for RegistryView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryView")
    }
}

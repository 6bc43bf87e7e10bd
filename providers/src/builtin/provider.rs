//! BuiltinProvider: the table, as a provider.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{
    CallContext, FunctionProvider, InvokeResult, ProviderKind, ProviderSettings, Reason, ToolAvailabilityContext,
    ToolFailure, ToolInvocation, ToolProvider, ToolSpec,
};

use super::entry::Switch;
use super::{BuiltinName, BuiltinTool};

const KIND: ProviderKind = ProviderKind::new("builtin");

/// The provider of the host's tools. Register it with [`BuiltinProvider::settings`], so that no other provider can take
/// their names.
#[derive(Debug)]
pub struct BuiltinProvider {
    functions: Arc<FunctionProvider>,
    switches: Switches,
}

/// By the name of their tool.
struct Switches(Vec<(Arc<str>, Switch)>);

// === impl BuiltinProvider ===

impl BuiltinProvider {
    /// A provider with these of Toolyard's own tools.
    pub fn new(name: &str, own: &[BuiltinName]) -> Self {
        Self::with_tools(name, own.iter().map(|name| name.entry()))
    }

    /// A provider with these tools; those that are not enabled are left out.
    pub fn with_tools(name: &str, table: impl IntoIterator<Item = BuiltinTool>) -> Self {
        let mut functions = FunctionProvider::with_kind(name, KIND);
        let mut switches = Vec::new();
        for BuiltinTool { tool, switch, .. } in table.into_iter().filter(|entry| entry.enabled) {
            switches.extend(switch.map(|switch| (Arc::clone(&tool.spec().name), switch)));
            functions.add_tool(tool);
        }
        Self { functions: Arc::new(functions), switches: Switches(switches) }
    }

    /// How it is to be registered: its names are its own.
    pub fn settings() -> ProviderSettings {
        let mut settings = ProviderSettings::default();
        settings.reserved_names = true;
        settings
    }
}

impl ToolProvider for BuiltinProvider {
    fn name(&self) -> &str {
        self.functions.name()
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        self.functions.list_tools()
    }

    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Arc::clone(&self.functions).invoke(invocation, context)
    }

    fn availability(&self, tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
        let (_, switch) = self.switches.0.iter().find(|(name, _)| *name == tool.name)?;
        switch(context)
    }
}

impl std::fmt::Debug for Switches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests;

//! FunctionProvider: a set of in-process tools under one name.

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use futures::future::BoxFuture;

use super::FunctionTool;
use crate::call::{CallContext, ToolInvocation};
use crate::provider::{InvokeResult, ProviderKind, ToolProvider};
use crate::result::{ErrorCode, ToolFailure};
use crate::tool::ToolSpec;

/// A provider of in-process tools.
#[derive(Debug)]
pub struct FunctionProvider {
    name: String,
    kind: ProviderKind,
    tools: Vec<FunctionTool>,
    by_name: HashMap<Arc<str>, usize, RandomState>,
}

// === impl FunctionProvider ===

impl FunctionProvider {
    /// The kind of providers made by [`FunctionProvider::new`].
    pub const KIND: ProviderKind = ProviderKind::new("function");

    /// A provider without tools.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_kind(name, Self::KIND)
    }

    /// A provider without tools, of a kind of its own.
    pub fn with_kind(name: impl Into<String>, kind: ProviderKind) -> Self {
        Self { name: name.into(), kind, tools: Vec::new(), by_name: HashMap::default() }
    }

    /// The same provider with one more tool. Of two tools with one name the first is used.
    #[must_use]
    pub fn with_tool(mut self, tool: FunctionTool) -> Self {
        self.add_tool(tool);
        self
    }

    /// Adds a tool. Of two tools with one name the first is used.
    pub fn add_tool(&mut self, tool: FunctionTool) {
        self.by_name.entry(Arc::clone(&tool.spec.name)).or_insert(self.tools.len());
        self.tools.push(tool);
    }

    /// As a rule the tool is where it was listed; else it is looked up by its name.
    fn tool(&self, invocation: &ToolInvocation) -> Option<&FunctionTool> {
        let listed = self.tools.get(invocation.listed_at());
        let is_it = |tool: &&FunctionTool| Arc::ptr_eq(&tool.spec.name, &invocation.spec().name);
        listed.filter(is_it).or_else(|| self.tools.get(*self.by_name.get(invocation.tool_name())?))
    }
}

impl ToolProvider for FunctionProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        self.kind
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        let specs = self.tools.iter().map(FunctionTool::listed).collect();
        Box::pin(std::future::ready(Ok(specs)))
    }

    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        match self.tool(&invocation) {
            Some(tool) => (tool.handler)(invocation, context),
            None => {
                let message = format!("there is no handler for `{}`", invocation.tool_name());
                Box::pin(std::future::ready(Err(ToolFailure::not_sent(ErrorCode::ToolUnknown, message))))
            }
        }
    }
}

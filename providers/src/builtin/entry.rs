//! An entry of the table: a tool of the host, and where it is offered.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolyard::{
    CallContext, ChatScope, FunctionTool, InvokeResult, Reason, Stage, ToolAvailabilityContext, ToolInvocation,
    ToolSpec, Visibility,
};

use super::{finish, plugins_use, tool_search, wait};

pub(super) type Switch = Arc<dyn Fn(&ToolAvailabilityContext<'_>) -> Option<Reason> + Send + Sync>;

/// A tool of the host: what it is, what it does, and where it is offered.
#[derive(Clone)]
pub struct BuiltinTool {
    pub(super) tool: FunctionTool,
    pub(super) enabled: bool,
    pub(super) switch: Option<Switch>,
}

/// Toolyard's own tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuiltinName {
    /// Finds deferred tools and loads what it finds.
    #[serde(rename = "tool_search")]
    ToolSearch,
    /// Loads the tools of a plugin.
    #[serde(rename = "plugins.use")]
    PluginsUse,
    /// Ends the turn.
    #[serde(rename = "finish")]
    Finish,
    /// Waits.
    #[serde(rename = "wait")]
    Wait,
}

// === impl BuiltinTool ===

impl BuiltinTool {
    /// An entry from a declaration and its handler. It is enabled, and offered wherever its declaration says.
    pub fn new<F, Fut>(spec: ToolSpec, handler: F) -> Self
    where
        F: Fn(ToolInvocation, CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = InvokeResult> + Send + 'static,
    {
        Self::from(FunctionTool::new(spec, handler))
    }

    /// The same entry, offered in one stage of the planner only.
    #[must_use]
    pub fn in_stage(self, stage: Stage) -> Self {
        self.map_spec(|spec| spec.scope.stage = Some(stage))
    }

    /// The same entry, offered in one kind of chats only.
    #[must_use]
    pub fn in_chats(self, chats: ChatScope) -> Self {
        self.map_spec(|spec| spec.scope.chats = Some(chats))
    }

    /// The same entry, seen by the model at this time. Default in every turn.
    #[must_use]
    pub fn with_visibility(self, visibility: Visibility) -> Self {
        self.map_spec(|spec| spec.visibility = Some(visibility))
    }

    /// The same entry, enabled or not: its switch in the host's configuration.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// The same entry, offered only where this gives no reason against it. It runs on the invoke path: it must answer at
    /// once and must not block.
    #[must_use]
    pub fn unless(
        mut self,
        switch: impl Fn(&ToolAvailabilityContext<'_>) -> Option<Reason> + Send + Sync + 'static,
    ) -> Self {
        self.switch = Some(Arc::new(switch));
        self
    }

    /// Its declaration.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn map_spec(mut self, change: impl FnOnce(&mut ToolSpec)) -> Self {
        self.tool = self.tool.map_spec(|mut spec| {
            change(&mut spec);
            spec
        });
        self
    }
}

impl From<FunctionTool> for BuiltinTool {
    fn from(tool: FunctionTool) -> Self {
        Self { tool, enabled: true, switch: None }
    }
}

impl fmt::Debug for BuiltinTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("BuiltinTool");
        shown.field("name", &self.spec().name).field("enabled", &self.enabled).finish_non_exhaustive()
    }
}

// === impl BuiltinName ===

impl BuiltinName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ToolSearch, Self::PluginsUse, Self::Finish, Self::Wait];

    /// Those that load other tools: offered only where there is something to load.
    pub const LOADING: [Self; 2] = [Self::ToolSearch, Self::PluginsUse];

    /// Its entry, for a table with tools of the host's own.
    pub fn entry(self) -> BuiltinTool {
        match self {
            Self::ToolSearch => tool_search::entry(),
            Self::PluginsUse => plugins_use::entry(),
            Self::Finish => finish::entry(),
            Self::Wait => wait::entry(),
        }
    }
}

//! Dialect: what differs between the kinds of plugins that the runner can load.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolyard::{
    InvokeResult, JsonText, ProviderKind, Reason, ReceivedMessage, Remarks, ToolAvailabilityContext,
    ToolExecutionContext, ToolExecutionResult, ToolSpec,
};

/// One plugin of one kind, as its manifest and its configuration describe it.
pub(crate) trait Dialect: Send + Sync + fmt::Debug + 'static {
    /// The kind of its provider, which is also the runner's word for the dialect.
    fn kind(&self) -> ProviderKind;

    /// The plugin's id, as its manifest says.
    fn id(&self) -> &str;

    /// The capabilities that the manifest allows; absent where all are.
    fn capabilities(&self) -> Option<Arc<BTreeSet<String>>>;

    /// Ids of plugins that must be up before this one is loaded.
    fn needs(&self) -> &[String] {
        &[]
    }

    /// What the dialect's Python side needs to know to load the plugin.
    fn options(&self) -> Value;

    /// Reads what the runner says of the plugin, once it is loaded and whenever it changes.
    ///
    /// # Errors
    /// A sentence, when the description as a whole cannot be used. A bad tool is a remark.
    fn read(&self, plugin: &Value) -> Result<LoadedPlugin, String>;

    /// What goes to the runner for one call. `source` is the message that asked for it, where the tool needs one.
    fn call(
        &self,
        tool: &ToolSpec,
        arguments: &JsonText,
        context: &ToolExecutionContext,
        source: Option<&ReceivedMessage>,
    ) -> CallBody;

    /// The result of a call that returned.
    fn result(&self, tool: &ToolSpec, value: JsonText) -> ToolExecutionResult;

    /// The result of a call that raised. The plugin is alive: the tool failed.
    fn raised(&self, tool: &ToolSpec, kind: &str, message: &str) -> InvokeResult {
        let _ = (tool, kind);
        Ok(ToolExecutionResult::failure(message.to_owned()))
    }

    /// Why a tool cannot be used in this chat, if so. Quick: it runs on the invoke path.
    fn availability(&self, tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason>;
}

/// A plugin that is loaded.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadedPlugin {
    pub(crate) version: String,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) remarks: Remarks,
    /// What the model is told about all of its tools.
    pub(crate) guide: Option<String>,
    /// What the runner said of it.
    pub(crate) document: Value,
}

/// The parts of a call that a dialect decides.
#[derive(Clone, Debug)]
pub(crate) struct CallBody {
    pub(crate) arguments: JsonText,
    pub(crate) context: JsonText,
}

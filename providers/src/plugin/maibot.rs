//! MaiBot's plugins (seed 000): what their manifests say, which tools their components are, what a call is given, and what
//! comes of what they return. The plugin's own code runs in a runner; nothing here touches it.

mod arguments;
mod component;
mod config;
mod handler;
mod manifest;
mod neighbours;
mod python;
mod result;
mod scope;
mod version;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::{
    InvokeResult, JsonText, ProviderKind, Reason, ReceivedMessage, ToolAvailabilityContext, ToolExecutionContext,
    ToolExecutionResult, ToolSpec, ToolWarning,
};

use super::dialect::{CallBody, Dialect, LoadedPlugin};
use arguments::Added;
use component::Components;
pub use config::MaiBotConfig;
pub(crate) use handler::{HandlerFault, faults_of};
use manifest::{Manifest, ManifestError};
pub(crate) use neighbours::Neighbours;
pub(crate) use result::STOP_NOT_BOOLEAN;
pub use version::{Claim, Version};

/// The kind of these providers.
pub const KIND: ProviderKind = ProviderKind::new("maibot");
/// A capability that needs no permission: a plugin may always say which APIs it has.
const FREE_CAPABILITY: &str = "api.replace_dynamic";

/// What differs for a MaiBot plugin.
#[derive(Debug)]
pub(crate) struct MaiBotDialect {
    manifest: Manifest,
    config: MaiBotConfig,
    /// Absent where the plugin may use all.
    capabilities: Option<Arc<BTreeSet<String>>>,
}

// === impl MaiBotDialect ===

impl MaiBotDialect {
    /// Reads and checks the manifest in the configured folder; no Python runs. Blocks for the time of a small file.
    ///
    /// # Errors
    /// Names every key of the manifest that is wrong.
    pub(crate) fn read(config: MaiBotConfig) -> Result<Self, ManifestError> {
        let manifest = Manifest::read(&config.path, &config)?;
        let free = std::iter::once(FREE_CAPABILITY.to_owned());
        let allowed = config.enforce_capabilities.then(|| manifest.capabilities.iter().cloned().chain(free).collect());
        Ok(Self { manifest, config, capabilities: allowed.map(Arc::new) })
    }
}

impl Dialect for MaiBotDialect {
    fn needs(&self) -> &[String] {
        &self.manifest.plugins
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn id(&self) -> &str {
        &self.manifest.id
    }

    fn capabilities(&self) -> Option<Arc<BTreeSet<String>>> {
        self.capabilities.clone()
    }

    fn options(&self) -> Value {
        let newest = |claim: &Claim| claim.newest().map(|version| version.to_string());
        json!({
            "id": self.manifest.id,
            "version": self.manifest.version.to_string(),
            "packages": self.manifest.packages,
            "host_version": newest(&self.config.host_version),
            "sdk_version": newest(&self.config.sdk_version),
        })
    }

    fn read(&self, plugin: &Value) -> Result<LoadedPlugin, String> {
        let list = plugin.get("components").and_then(Value::as_array).ok_or("it lists no `components`")?;
        let components = Components::read(list, self.config.default_visibility);
        let (tools, mut remarks) = components.finish(&self.manifest.id);
        let warn = |message: String| ToolWarning { name: self.manifest.id.clone(), message };
        let texts = plugin.get("warnings").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        remarks.warnings.extend(texts.map(|text| warn(text.to_owned())));
        remarks.warnings.extend(self.manifest.warnings.iter().cloned().map(warn));
        if let Some(reason) = plugin.get("inactive").and_then(Value::as_str) {
            remarks.warnings.push(warn(format!("the plugin is inactive: {reason}")));
        }
        let mut document = plugin.clone();
        document["name"] = json!(self.manifest.name);
        document["plugin_type"] = json!(self.manifest.plugin_type);
        document["needs"] = json!(self.manifest.plugins);
        Ok(LoadedPlugin { version: self.manifest.version.to_string(), tools, remarks, guide: None, document })
    }

    fn call(
        &self,
        tool: &ToolSpec,
        arguments: &JsonText,
        context: &ToolExecutionContext,
        source: Option<&ReceivedMessage>,
    ) -> CallBody {
        CallBody { arguments: arguments.clone(), context: Added::to_call(tool, context, source).into_json() }
    }

    fn result(&self, _tool: &ToolSpec, value: JsonText) -> ToolExecutionResult {
        let mut result = result::result_of(&value);
        result.metadata.insert("plugin_id".to_owned(), json!(self.manifest.id));
        result
    }

    fn raised(&self, _tool: &ToolSpec, _kind: &str, message: &str) -> InvokeResult {
        let message = if message.trim().is_empty() { result::FAILED } else { message };
        let mut result = ToolExecutionResult::failure(message);
        result.metadata.insert("plugin_id".to_owned(), json!(self.manifest.id));
        Ok(result)
    }

    fn availability(&self, tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
        scope::reason(tool, context)
    }
}

#[cfg(test)]
mod tests;

//! LenBotDialect: a LenBot plugin, as its manifest and its configuration describe it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolyard::{
    InvokeResult, JsonText, ProviderKind, Reason, ReceivedMessage, ToolAvailabilityContext, ToolExecutionContext,
    ToolExecutionResult, ToolSpec,
};

use super::manifest::LenBotManifest;
use super::scene::scene_of;
use super::{LenBotConfig, call, document, secret};
use crate::plugin::dialect::{CallBody, Dialect, LoadedPlugin};

/// The kind of LenBot providers, and the runner's word for the dialect.
pub const KIND: ProviderKind = ProviderKind::new("lenbot");
/// What our `len_bot.plugin` asks for. A plugin has nothing else to ask.
const CAPABILITIES: [&str; 10] = [
    "lenbot.delegate",
    "lenbot.emit_event",
    "lenbot.fetch_image",
    "lenbot.generate",
    "lenbot.memory",
    "lenbot.message",
    "lenbot.messages_between",
    "lenbot.owners",
    "lenbot.recent_messages",
    "lenbot.send",
];

/// A LenBot plugin that can be loaded.
pub(crate) struct LenBotDialect {
    manifest: LenBotManifest,
    config: LenBotConfig,
    /// The plugin's configuration, secrets included.
    values: Map<String, Value>,
    capabilities: Arc<BTreeSet<String>>,
}

// === impl LenBotDialect ===

impl LenBotDialect {
    /// Reads and checks the plugin's manifest and its secrets.
    ///
    /// # Errors
    /// A sentence that says what is wrong, and shows no secret.
    pub(crate) fn read(config: LenBotConfig) -> Result<Self, String> {
        let manifest = LenBotManifest::read(&config)?;
        let values = secret::resolve(&manifest.config, &config.config)?;
        let capabilities = Arc::new(CAPABILITIES.into_iter().map(str::to_owned).collect());
        Ok(Self { manifest, config, values, capabilities })
    }

    /// Why the plugin as a whole cannot be used in the scene.
    fn closed(&self, scene: &str) -> Option<String> {
        let is_enabled = self.config.scenes.as_ref().is_none_or(|scenes| scenes.iter().any(|known| known == scene));
        if !is_enabled {
            return Some(format!("插件 {} 未在场景 {scene} 启用", self.manifest.name));
        }
        let is_paused = self.config.paused_scenes.iter().any(|paused| paused == scene);
        is_paused.then(|| format!("场景 {scene} 的聊天已关闭"))
    }
}

impl Dialect for LenBotDialect {
    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn id(&self) -> &str {
        &self.manifest.name
    }

    fn capabilities(&self) -> Option<Arc<BTreeSet<String>>> {
        Some(Arc::clone(&self.capabilities))
    }

    fn options(&self) -> Value {
        let config = &self.config;
        json!({
            "manifest": self.manifest.document,
            "config": self.values,
            "scenes": config.scenes,
            "paused_scenes": config.paused_scenes,
            "owners": config.owners,
            "blacklist": config.blacklist,
            "other_bots": config.other_bots,
            "bot_id": config.bot_id,
            "timezone": config.timezone,
        })
    }

    fn read(&self, plugin: &Value) -> Result<LoadedPlugin, String> {
        document::read(plugin)
    }

    fn call(
        &self,
        tool: &ToolSpec,
        arguments: &JsonText,
        context: &ToolExecutionContext,
        source: Option<&ReceivedMessage>,
    ) -> CallBody {
        let scene = scene_of(&context.availability(), self.config.platform.as_deref());
        call::body(tool, arguments, context, source, scene)
    }

    fn result(&self, _tool: &ToolSpec, value: JsonText) -> ToolExecutionResult {
        call::result(value)
    }

    fn raised(&self, tool: &ToolSpec, kind: &str, message: &str) -> InvokeResult {
        call::raised(tool, kind, message)
    }

    fn availability(&self, tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
        let scene = scene_of(context, self.config.platform.as_deref());
        self.closed(&scene).or_else(|| document::reason(tool, &scene)).map(Reason)
    }
}

/// Shows no values of the plugin's configuration: there are secrets among them.
impl fmt::Debug for LenBotDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LenBotDialect").field("name", &self.manifest.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn dialect() -> LenBotDialect {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/plugins/lenbot/group_notes");
        let config = json!({
            "path": path, "scenes": ["onebot:group:1", "onebot:group:2"], "paused_scenes": ["onebot:group:2"],
            "platform": "onebot", "config": {"token": "hunter2"},
        });
        LenBotDialect::read(serde_json::from_value(config).unwrap()).unwrap()
    }

    fn availability(group: &str) -> Option<String> {
        let context = ToolExecutionContext {
            group_id: group.to_owned(),
            platform: "qq".to_owned(),
            ..ToolExecutionContext::default()
        };
        dialect().availability(&ToolSpec::new("read", ""), &context.availability()).map(|reason| reason.0)
    }

    #[test]
    fn a_plugin_is_used_only_where_it_is_enabled_and_the_chat_is_open() {
        assert_eq!(availability("1"), None);
        assert_eq!(availability("2").unwrap(), "场景 onebot:group:2 的聊天已关闭");
        assert_eq!(availability("3").unwrap(), "插件 group_notes 未在场景 onebot:group:3 启用");
    }

    #[test]
    fn the_runner_gets_the_values_and_the_debug_form_does_not() {
        let dialect = dialect();
        assert_eq!(dialect.options()["config"]["token"], "hunter2");
        assert_eq!(dialect.options()["manifest"]["name"], "group_notes");
        assert!(!format!("{dialect:?}").contains("hunter2"));
    }
}

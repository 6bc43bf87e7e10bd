//! From what the runner says of a plugin to its tools.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolyard::{
    Locale, RejectedTool, Remarks, ToolSpec, ToolText, ToolWarning, Visibility, check_tool_name, with_source_message,
};

use crate::plugin::dialect::LoadedPlugin;

/// Tools that one plugin may have.
const MAX_TOOLS: usize = 10_000;
/// Members of a tool's metadata.
pub(super) const UNAVAILABLE: &str = "unavailable";
const SOURCE: &str = "source";

/// A plugin, as its runner describes it.
#[derive(Debug, Deserialize)]
struct Document {
    id: String,
    version: String,
    tools: Vec<Tool>,
    #[serde(default)]
    components: Vec<Component>,
    #[serde(default)]
    warnings: Vec<String>,
    /// The text of the shared instructions.
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    unavailable: Unavailable,
}

#[derive(Debug, Deserialize)]
struct Tool {
    name: String,
    description: String,
    #[serde(default)]
    summary: Option<String>,
    parameters: Value,
    #[serde(default)]
    needs_source: bool,
}

/// Something else that the plugin declares.
#[derive(Debug, Deserialize)]
struct Component {
    kind: String,
    name: String,
}

/// Why tools cannot be used, by tool: in each configured scene, and in all others.
#[derive(Debug, Default, Deserialize)]
struct Unavailable {
    #[serde(default)]
    default: BTreeMap<String, String>,
    #[serde(default)]
    scenes: BTreeMap<String, BTreeMap<String, String>>,
}

/// Reads the description.
///
/// # Errors
/// It is none, or has too many tools.
pub(super) fn read(plugin: &Value) -> Result<LoadedPlugin, String> {
    let document = Document::deserialize(plugin).map_err(|error| format!("its description cannot be read: {error}"))?;
    if document.tools.len() > MAX_TOOLS {
        return Err(format!("it has {} tools; at most {MAX_TOOLS} are read", document.tools.len()));
    }
    let mut remarks = Remarks::default();
    let mut tools = Vec::new();
    for tool in &document.tools {
        match document.spec(tool) {
            Ok(spec) => tools.push(spec),
            Err(reason) => remarks.rejected.push(RejectedTool { name: tool.name.clone(), reason }),
        }
    }
    remarks.warnings = document.warnings_of_all();
    Ok(LoadedPlugin {
        version: document.version,
        tools,
        remarks,
        guide: document.instructions,
        document: plugin.clone(),
    })
}

// === impl Document ===

impl Document {
    fn spec(&self, tool: &Tool) -> Result<ToolSpec, String> {
        check_tool_name(&tool.name).map_err(|error| error.to_string())?;
        let schema = if tool.needs_source {
            with_source_message(&tool.parameters, Locale::Zh).map_err(|error| error.to_string())?
        } else {
            tool.parameters.clone()
        };
        let source = format!("插件 {}", self.id);
        // The catalogue shows the source by itself; only the definition has it in front.
        let text = ToolText {
            brief: tool.summary.clone().unwrap_or_else(|| tool.description.clone()),
            full: format!("[{source}] {}", tool.description),
        };
        let mut spec = ToolSpec::new(tool.name.as_str(), "").with_text(text).with_parameters(schema);
        spec.visibility = Some(Visibility::Deferred);
        spec.flags.needs_source = tool.needs_source;
        spec.metadata = self.metadata(&tool.name, source);
        Ok(spec)
    }

    fn metadata(&self, tool: &str, source: String) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert(SOURCE.to_owned(), Value::String(source));
        let scenes: Map<String, Value> = (self.unavailable.scenes.iter())
            .filter_map(|(scene, reasons)| Some((scene.clone(), json!(reasons.get(tool)?))))
            .collect();
        // A configured scene without a reason is as good as said: the default does not count there.
        let default = self.unavailable.default.get(tool);
        if default.is_some() || !scenes.is_empty() {
            let free: Vec<_> = self.unavailable.scenes.keys().filter(|scene| !scenes.contains_key(*scene)).collect();
            metadata.insert(UNAVAILABLE.to_owned(), json!({"default": default, "scenes": scenes, "free": free}));
        }
        metadata
    }

    fn warnings_of_all(&self) -> Vec<ToolWarning> {
        let warning = |message| ToolWarning { name: self.id.clone(), message };
        let mut warnings: Vec<_> = self.warnings.iter().cloned().map(warning).collect();
        let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for component in &self.components {
            kinds.entry(&component.kind).or_default().push(&component.name);
        }
        warnings.extend(
            kinds.into_iter().map(|(kind, names)| warning(format!("{kind} is not run here: {}", names.join(", ")))),
        );
        warnings
    }
}

/// Why the tool cannot be used in the scene, by what its plugin said last.
pub(super) fn reason(tool: &ToolSpec, scene: &str) -> Option<String> {
    let unavailable = tool.metadata.get(UNAVAILABLE)?;
    if let Some(reason) = unavailable.get("scenes")?.get(scene) {
        return reason.as_str().map(str::to_owned);
    }
    let is_free = unavailable.get("free")?.as_array()?.iter().any(|free| free == scene);
    if is_free { None } else { unavailable.get("default")?.as_str().map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use toolyard::SOURCE_MESSAGE_PARAMETER;

    use super::*;

    fn loaded() -> LoadedPlugin {
        let parameters = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let plugin = json!({
            "id": "counter", "version": "1.0.0", "instructions": "先读后写。", "warnings": ["参数模型 X 接受未声明的字段"],
            "tools": [
                {"name": "read", "description": "读取计数。", "summary": null, "parameters": parameters},
                {"name": "act", "description": "执行操作。", "summary": "操作", "parameters": parameters, "needs_source": true},
            ],
            "components": [
                {"kind": "command", "name": "计数", "description": ""},
                {"kind": "command", "name": "清零", "description": ""},
            ],
            "unavailable": {
                "default": {"read": "未开启"},
                "scenes": {"a:group:1": {"read": "此群未开启", "act": "不许"}, "a:group:2": {}},
            },
        });
        read(&plugin).unwrap()
    }

    #[test]
    fn the_summary_is_for_the_catalogue_and_the_prefixed_description_for_the_definition() {
        let plugin = loaded();
        let [read, act] = plugin.tools.as_slice() else { panic!("{plugin:?}") };
        assert_eq!((read.brief(), read.description.as_str()), ("读取计数。", "[插件 counter] 读取计数。"));
        assert_eq!((act.brief(), act.description.as_str()), ("操作", "[插件 counter] 执行操作。"));
        assert_eq!((read.visibility, read.flags.needs_source), (Some(Visibility::Deferred), false));
        assert_eq!((plugin.guide.as_deref(), &read.metadata["source"]), (Some("先读后写。"), &json!("插件 counter")));
    }

    #[test]
    fn a_tool_that_needs_a_source_gets_the_hosts_parameter() {
        let plugin = loaded();
        let act = &plugin.tools[1];
        assert!(act.flags.needs_source);
        assert_eq!(act.parameters_schema["required"], json!([SOURCE_MESSAGE_PARAMETER]));
        assert!(plugin.tools[0].parameters_schema["properties"].get(SOURCE_MESSAGE_PARAMETER).is_none());
    }

    #[test]
    fn reasons_hold_for_their_scene_and_the_default_for_scenes_that_are_not_configured() {
        let plugin = loaded();
        let [read, act] = plugin.tools.as_slice() else { panic!("{plugin:?}") };
        assert_eq!(reason(read, "a:group:1").as_deref(), Some("此群未开启"));
        assert_eq!(reason(read, "a:group:2"), None);
        assert_eq!(reason(read, "a:group:3").as_deref(), Some("未开启"));
        assert_eq!(reason(act, "a:group:1").as_deref(), Some("不许"));
        assert_eq!(reason(act, "a:group:3"), None);
    }

    #[test]
    fn what_is_not_run_is_said_once_for_each_kind() {
        let messages: Vec<_> = loaded().remarks.warnings.into_iter().map(|warning| warning.message).collect();
        assert_eq!(messages, ["参数模型 X 接受未声明的字段", "command is not run here: 计数, 清零"]);
    }

    #[test]
    fn a_tool_that_cannot_be_one_costs_only_itself() {
        let tool = |name: &str, parameters: Value| json!({"name": name, "description": "d", "parameters": parameters, "needs_source": true});
        let tools = [tool("bad", json!(true)), tool("good", json!({"type": "object"}))];
        let plugin = read(&json!({"id": "x", "version": "1", "tools": tools})).unwrap();
        assert_eq!(plugin.tools.len(), 1);
        assert_eq!(plugin.remarks.rejected[0].name, "bad");
        assert!(read(&json!({"id": "x"})).is_err());
    }
}

//! `plugins.use`: loads the tools of a plugin (seed 003, `onDemand`).

use serde_json::json;
use toolyard::{
    CallContext, CataloguePlugin, Effect, LoadedSet, LocalText, Locale, Reason, ToolExecutionResult, ToolInvocation,
    ToolSpec,
};

use super::BuiltinTool;

/// Plugins that an answer names.
const MAX_NAMED: usize = 50;

pub(super) fn entry() -> BuiltinTool {
    let mut spec = ToolSpec::new(
        "plugins.use",
        "Loads the tools of a plugin that are not offered from the start. They can be called in your next reply.",
    )
    .with_parameters(json!({
        "type": "object",
        "properties": {"plugin": {"type": "string", "description": "The name of the plugin."}},
        "required": ["plugin"],
        "additionalProperties": false
    }))
    .with_titles(LocalText::new("加载插件", "Use a plugin"));
    spec.effect = Some(Effect::Read);
    BuiltinTool::new(spec, |invocation, context| std::future::ready(Ok(run(&invocation, &context)))).unless(|context| {
        (!context.has_on_demand).then(|| Reason("no plugin has tools that are loaded on demand".to_owned()))
    })
}

fn run(invocation: &ToolInvocation, context: &CallContext) -> ToolExecutionResult {
    let (arguments, locale) = (invocation.arguments().value(), context.execution().locale);
    let wanted = arguments["plugin"].as_str().unwrap_or_default().trim();
    let plugins = context.plugins();
    let Some(plugin) = plugins.iter().find(|plugin| *plugin.name == *wanted) else {
        return ToolExecutionResult::failure(unknown(&plugins, locale));
    };
    let loaded = LoadedSet { providers: [plugin.name.clone()].into(), ..LoadedSet::default() };
    ToolExecutionResult::success(told(plugin, locale)).loading(loaded)
}

fn told(plugin: &CataloguePlugin, locale: Locale) -> String {
    let tools = plugin.tools.iter().map(|tool| format!("- {}: {}", tool.name, tool.summary));
    let head = match (locale, plugin.loaded) {
        (Locale::En, false) => format!("`{}` is loaded. From your next reply on you can call:", plugin.name),
        (Locale::En, true) => format!("`{}` was loaded before. You can call:", plugin.name),
        (Locale::Zh, false) => format!("已加载 {}。下一次回复起可以调用：", plugin.name),
        (Locale::Zh, true) => format!("{} 此前已加载。可以调用：", plugin.name),
    };
    std::iter::once(head).chain(tools).collect::<Vec<_>>().join("\n")
}

/// What was asked for is not repeated: the model knows it.
fn unknown(plugins: &[CataloguePlugin], locale: Locale) -> String {
    let names: Vec<&str> = plugins.iter().take(MAX_NAMED).map(|plugin| &*plugin.name).collect();
    match (locale, names.is_empty()) {
        (Locale::En, true) => "there is no plugin to load here".to_owned(),
        (Locale::En, false) => format!("there is no such plugin; those that can be loaded are {}", names.join(", ")),
        (Locale::Zh, true) => "当前没有可加载的插件".to_owned(),
        (Locale::Zh, false) => format!("没有这个插件；可加载的插件有 {}", names.join("、")),
    }
}

//! The demo: in-process tools that need nothing, and the configuration that the daemon starts with when it has none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolyard::{Effect, ExecutionClass, FunctionProvider, FunctionTool, ProviderKind};

/// The configuration that is used when there is none.
pub(crate) const CONFIG: &str = include_str!("demo/config.toml");

/// Tools that run in this process.
pub(crate) fn demo_provider(name: &str) -> FunctionProvider {
    FunctionProvider::with_kind(name, ProviderKind::new("function")).with_tool(text_stats())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextStatsArguments {
    /// The text to look at.
    text: String,
}

#[derive(Serialize)]
struct TextStats {
    content: String,
    characters: usize,
    words: usize,
    lines: usize,
}

fn text_stats() -> FunctionTool {
    FunctionTool::typed("text_stats", "Counts the characters, words and lines of a text.", |arguments| {
        std::future::ready(Ok(count(&arguments)))
    })
    .with_execution(ExecutionClass::Inline)
    .map_spec(|mut spec| {
        spec.effect = Some(Effect::Read);
        spec
    })
}

fn count(TextStatsArguments { text }: &TextStatsArguments) -> TextStats {
    let (characters, words, lines) = (text.chars().count(), text.split_whitespace().count(), text.lines().count());
    let content = format!("{characters} characters, {words} words, {lines} lines");
    TextStats { content, characters, words, lines }
}

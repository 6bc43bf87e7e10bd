//! `tool_search`: finds deferred tools and loads what it finds (seeds 000 and 002).

use serde_json::{Value, json};
use toolyard::{
    CallContext, Effect, FoundTool, JsonText, LoadedSet, LocalText, Locale, Ranking, Reason, SearchError,
    ToolExecutionResult, ToolInvocation, ToolSpec,
};

use super::BuiltinTool;

pub(super) fn entry() -> BuiltinTool {
    let mut spec = ToolSpec::new(
        "tool_search",
        "Finds tools that are not loaded yet. Search is literal: pick a tool from the list of tools that can be found and \
         search for its exact name, or for a word of what it does. What is found can be called in your next reply.",
    )
    .with_parameters(json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The name of a tool, or words of its description."},
            "limit": {"type": "integer", "description": "How many tools to find at most."}
        },
        "required": ["query"],
        "additionalProperties": false
    }))
    .with_titles(LocalText::new("查找工具", "Find tools"));
    spec.effect = Some(Effect::Read);
    BuiltinTool::new(spec, |invocation, context| std::future::ready(Ok(run(&invocation, &context)))).unless(|context| {
        (!context.has_deferred).then(|| {
            Reason("only the model of a session searches, while there are tools that it has not loaded yet".to_owned())
        })
    })
}

fn run(invocation: &ToolInvocation, context: &CallContext) -> ToolExecutionResult {
    let (arguments, locale) = (invocation.arguments().value(), context.execution().locale);
    let query = arguments["query"].as_str().unwrap_or_default();
    match context.search_tools(query, limit(&arguments["limit"])) {
        Err(error) => ToolExecutionResult::failure(refusal(error, locale)),
        Ok(found) => {
            let loaded = found.iter().map(|tool| tool.tool_id.as_str().into()).collect();
            let result = match context.ranking() {
                Ranking::MaiBot => ToolExecutionResult::success(lines(&found, query, locale)),
                Ranking::LenBot => ToolExecutionResult::structured(JsonText::from(document(&found))),
            };
            result.loading(LoadedSet { tools: loaded, ..LoadedSet::default() })
        }
    }
}

/// A number that is none, or too small, is as good as absent.
fn limit(given: &Value) -> Option<usize> {
    given.as_u64().filter(|limit| *limit > 0).and_then(|limit| usize::try_from(limit).ok())
}

/// MaiBot's form: a line a tool.
fn lines(found: &[FoundTool], query: &str, locale: Locale) -> String {
    if found.is_empty() {
        let query = query.trim();
        return match locale {
            Locale::En => {
                format!("no tool fits `{query}`; search for the exact name of one of the tools that can be found")
            }
            Locale::Zh => format!("没有找到与“{query}”匹配的工具，请从可发现的工具列表中选择准确的名称"),
        };
    }
    let line = |tool: &FoundTool| match (locale, tool.is_new) {
        (Locale::En, true) => format!("- {} (found now)", tool.name()),
        (Locale::En, false) => format!("- {} (found before)", tool.name()),
        (Locale::Zh, true) => format!("- {}（本次新发现）", tool.name()),
        (Locale::Zh, false) => format!("- {}（此前已发现）", tool.name()),
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// LenBot's form.
fn document(found: &[FoundTool]) -> Value {
    let tools = found
        .iter()
        .map(|tool| json!({"name": tool.entry.name, "description": tool.entry.summary, "source": tool.entry.source}));
    json!({"available_from": "next_model_request", "tools": tools.collect::<Vec<_>>()})
}

fn refusal(error: SearchError, locale: Locale) -> String {
    match (locale, error) {
        (Locale::Zh, SearchError::Blank) => "query 不能为空".to_owned(),
        (Locale::Zh, SearchError::TooLong) => "query 过长".to_owned(),
        _ => error.to_string(),
    }
}

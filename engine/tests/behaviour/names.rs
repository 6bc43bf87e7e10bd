//! Names: legal for every vendor, led back by a table, never by their parts.

use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::CallStatus::UnknownTool;
use toolyard::{
    CallPolicy, DefinitionForm, FunctionTool, Limits, NameForm, ToolBatch, ToolExecutionContext, ToolRegistry,
};

use crate::fixture::{OK, call, provider, saying, settings};

/// A registry of qualified providers; every tool says its provider and name.
async fn servers(tools: &[(&str, &str)]) -> ToolRegistry {
    let registry = ToolRegistry::new(Limits::default());
    let mut names: Vec<&str> = tools.iter().map(|(server, _)| *server).collect();
    names.dedup();
    for server in names {
        let own = tools.iter().filter(|(owner, _)| *owner == server);
        let own: Vec<FunctionTool> = own.map(|(server, name)| saying(name, &format!("{server}.{name}"))).collect();
        let form = if server.is_empty() { NameForm::Bare } else { NameForm::Qualified };
        let server = if server.is_empty() { "local" } else { server };
        registry.register(provider(server, own), settings(|settings| settings.name_form = form)).await.unwrap();
    }
    registry
}

fn exported(registry: &ToolRegistry, form: DefinitionForm) -> Vec<(String, String)> {
    let definitions = registry.get_llm_definitions(&ToolExecutionContext::default(), form);
    let list = match form {
        DefinitionForm::Gemini | DefinitionForm::GeminiSchema => definitions[0]["functionDeclarations"].clone(),
        _ => definitions,
    };
    let of = |definition: &Value| {
        let own = definition.get("function").or(definition.get("toolSpec")).unwrap_or(definition).clone();
        let text = |key: &str| own[key].as_str().unwrap_or_default().to_owned();
        (text("name"), text("description"))
    };
    list.as_array().unwrap().iter().map(of).collect()
}

fn is_legal(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=64).contains(&name.len())
        && name.chars().all(legal)
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

#[tokio::test(start_paused = true)]
async fn every_exported_name_is_legal_unique_and_leads_back() {
    let long = "x".repeat(90);
    let tools = [
        ("docs", "sheet.cells/update"),
        ("", "代码计算器"),
        ("s", "a.b"),
        ("s", "a_b"),
        ("s", "a-b"),
        ("a__b", "c"),
        ("a", "b__c"),
        ("", "web_search"),
        ("", "3d-render"),
        ("", long.as_str()),
    ];
    for form in DefinitionForm::ALL {
        if matches!(form, DefinitionForm::Native) {
            continue;
        }
        let registry = servers(&tools).await;
        let names = exported(&registry, form);
        assert_eq!(
            names.iter().map(|(name, _)| name).collect::<std::collections::HashSet<_>>().len(),
            tools.len(),
            "{form}"
        );
        let mut said = Vec::new();
        for (name, _) in &names {
            assert!(form == DefinitionForm::Mcp || is_legal(name), "{form}: {name}");
            let result = registry.invoke(call("c1", name), Arc::default()).await.unwrap();
            assert_eq!(result.status, OK, "{form}: {name}");
            said.push(result.history_content());
        }
        said.sort();
        let mut all: Vec<String> = tools.iter().map(|(server, name)| format!("{server}.{name}")).collect();
        all.sort();
        assert_eq!(said, all, "{form}: each tool is reached by its own name");
    }
}

#[tokio::test(start_paused = true)]
async fn names_that_had_to_change_stand_in_the_description_and_mcp_keeps_them() {
    let registry = servers(&[("docs", "sheet.cells/update"), ("", "代码计算器"), ("", "web_search")]).await;
    let chat = exported(&registry, DefinitionForm::OpenAiChat);
    assert!(chat.iter().any(|(name, text)| name.starts_with("tool_") && text.contains("代码计算器")), "{chat:?}");
    assert!(chat.iter().any(|(name, text)| name == "web_search" && text.is_empty()), "{chat:?}");
    let mcp = exported(&registry, DefinitionForm::Mcp);
    assert!(mcp.iter().any(|(name, _)| name == "docs__sheet.cells/update"), "{mcp:?}");
    assert_eq!(
        chat,
        exported(
            &servers(&[("docs", "sheet.cells/update"), ("", "代码计算器"), ("", "web_search")]).await,
            DefinitionForm::OpenAiChat
        )
    );
}

#[tokio::test(start_paused = true)]
async fn another_server_renames_nothing() {
    let alone = exported(&servers(&[("github", "search"), ("github", "get.issue")]).await, DefinitionForm::OpenAiChat);
    let both = exported(
        &servers(&[("github", "search"), ("github", "get.issue"), ("jira", "search")]).await,
        DefinitionForm::OpenAiChat,
    );
    assert!(alone.iter().all(|name| both.contains(name)), "{alone:?} {both:?}");
    let chinese = exported(&servers(&[("local", "天气")]).await, DefinitionForm::OpenAiChat);
    let more = exported(&servers(&[("local", "时间"), ("local", "天气")]).await, DefinitionForm::OpenAiChat);
    assert!(more.contains(&chinese[0]), "{chinese:?} {more:?}");
}

#[tokio::test(start_paused = true)]
async fn unknown_names_come_with_the_nearest_and_cost_no_sibling() {
    let registry = servers(&[("", "get_weather"), ("", "get_time"), ("", "view"), ("", "TimePlugin-GetUtc")]).await;
    let told = async |name: &str| {
        let outcome = registry.dispatch(ToolBatch::new(vec![call("a", name), call("b", "view")])).await;
        assert_eq!((outcome.results[0].status, outcome.results[1].status), (UnknownTool, OK), "{name}");
        outcome.results[0].error.clone().unwrap().message.into_owned()
    };
    assert!(told("get_wether").await.contains("did you mean `get_weather`"));
    assert!(told("TimePlugin.GetUtc").await.contains("`TimePlugin-GetUtc`"));
    assert!(told("creating:view").await.contains("`view`"));
    assert!(!told("zzz").await.contains("did you mean"));
    let many: Vec<(&str, String)> = (0..9).map(|n| ("", format!("get_weather{n}"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(server, name)| (*server, name.as_str())).collect();
    let result = servers(&many).await.invoke(call("a", "get_weather"), Arc::default()).await.unwrap();
    assert_eq!(result.error.unwrap().message.matches("`get_weather").count(), 1 + 5);
}

#[tokio::test(start_paused = true)]
async fn a_name_with_another_separator_leads_to_its_tool_only_when_lenient() {
    let registry = servers(&[("TimePlugin", "GetUtc"), ("a__b", "c"), ("a", "b__c")]).await;
    let lenient = CallPolicy { lenient_names: true, ..CallPolicy::default() };
    for name in ["TimePlugin.GetUtc", "TimePlugin-GetUtc", "timeplugin/getutc", "functions.TimePlugin_GetUtc"] {
        let strict = registry.dispatch(ToolBatch::new(vec![call("a", name)])).await.results.remove(0);
        assert_eq!(strict.status, UnknownTool, "{name}");
        assert!(strict.error.unwrap().message.contains("`TimePlugin__GetUtc`"), "{name}");
        assert!(is_legal(&strict.model_name), "what goes into the history is legal");
        let batch = ToolBatch::new(vec![call("a", name)]).with_policy(lenient);
        let result = registry.dispatch(batch).await.results.remove(0);
        assert_eq!((result.status, &*result.model_name), (OK, "TimePlugin__GetUtc"), "{name}");
        assert_eq!(serde_json::to_value(&result.repairs).unwrap(), json!([{"kind": "tool_name", "pointer": ""}]));
    }
    let both = registry.dispatch(ToolBatch::new(vec![call("a", "a.b.c")]).with_policy(lenient)).await;
    assert_eq!(both.results[0].status, UnknownTool, "two tools can be meant");
}

#[tokio::test(start_paused = true)]
async fn lenient_names_lead_to_the_one_tool_that_can_be_meant_and_say_so() {
    let registry = servers(&[("", "view"), ("", "TimePlugin-GetUtc"), ("", "a.b"), ("", "a-b")]).await;
    let lenient = CallPolicy { lenient_names: true, ..CallPolicy::default() };
    for (name, meant) in [
        ("default_api:view", "view"),
        ("functions.view", "view"),
        ("TimePlugin.GetUtc", "TimePlugin-GetUtc"),
        ("VIEW", "view"),
    ] {
        let outcome = registry.dispatch(ToolBatch::new(vec![call("a", name)]).with_policy(lenient)).await;
        let result = &outcome.results[0];
        assert_eq!((result.status, &*result.tool, &*result.model_name), (OK, name, meant));
        assert_eq!(serde_json::to_value(&result.repairs).unwrap(), json!([{"kind": "tool_name", "pointer": ""}]));
    }
    for name in ["creating:view", "a b"] {
        let outcome = registry.dispatch(ToolBatch::new(vec![call("a", name)]).with_policy(lenient)).await;
        assert_eq!(outcome.results[0].status, UnknownTool, "{name}");
        assert!(is_legal(&outcome.results[0].model_name), "what goes into the history is legal");
    }
}

#[tokio::test(start_paused = true)]
async fn a_models_own_words_are_repeated_in_short() {
    let registry = servers(&[("", "view")]).await;
    let name = "x".repeat(1 << 20);
    let result = registry.invoke(call("a", &name), Arc::default()).await.unwrap();
    assert!(result.history_content().len() < 400, "{}", result.history_content().len());
    let twice = format!("{{\"{name}\": 1, \"{name}\": 2}}").replace(&"x".repeat(1 << 19), "y");
    let twice = toolyard::ToolCall::new("b", "view", toolyard::RawArguments::text(twice));
    let error = registry.invoke(twice, Arc::default()).await.unwrap().error.unwrap();
    assert!(error.message.len() < 400 && error.pointer.unwrap().len() < 400);
}

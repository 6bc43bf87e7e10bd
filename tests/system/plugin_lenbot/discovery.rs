//! What LenBot promises about finding tools and about shared instructions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::{
    CallResult, CallStatus, DefinitionForm, DenyRule, ErrorCode, Policy, PreviewState, Ranking, RawArguments,
    SessionKey, ToolBatch, ToolCall, ToolExecutionContext, ToolNames, ToolQuery,
};
use toolyard_providers::{BuiltinProvider, builtin_provider};

use toolyard_tests::HANG;

use super::fixture::{Bot, SCENE};

const CODE: &str = r#"from len_bot.plugin import Invocation, Plugin, tool


class Notes(Plugin):
    @tool("lookup", "搜索或读取内容，支持分页。", summary="查询内容")
    async def lookup(self, ctx: Invocation) -> str:
        return "found"

    @tool("write", "写下一条。")
    async def write(self, ctx: Invocation) -> str:
        return "written"
"#;

/// A bot whose model finds tools as LenBot's does.
struct Finder {
    bot: Bot,
    context: Arc<ToolExecutionContext>,
    session: SessionKey,
}

impl Finder {
    async fn new() -> Self {
        let bot = Bot::new();
        let mut policy = Policy::default();
        policy.discovery.ranking = Ranking::LenBot;
        bot.registry.set_policy(policy);
        bot.registry.register(Arc::new(builtin_provider()), BuiltinProvider::settings()).await.unwrap();
        let path = bot.write("notes", CODE, "[model]\ninstructions = \"prompts/tools.md\"\n");
        std::fs::create_dir_all(path.join("prompts")).unwrap();
        std::fs::write(path.join("prompts/tools.md"), "先查再写。").unwrap();
        bot.launch("notes", &path, json!({})).await;
        bot.registry.wait_started(HANG).await;
        assert_eq!(bot.reason("notes"), None);
        let context = Arc::new(ToolExecutionContext { stream_id: SCENE.to_owned(), ..Default::default() });
        Self { bot, context, session: SessionKey { tenant: "".into(), session: SCENE.into() } }
    }

    fn query(&self) -> ToolQuery<'_> {
        ToolQuery::of_session(&self.context, &self.session)
    }

    fn guides(&self) -> String {
        self.bot.registry.guides(self.query()).text()
    }

    async fn batch(&self, calls: &[(&str, Value)]) -> Vec<CallResult> {
        let calls = calls.iter().map(|(tool, arguments)| ToolCall::new(*tool, *tool, RawArguments::from(arguments)));
        let mut batch = ToolBatch::new(calls.collect()).with_context(Arc::clone(&self.context));
        batch.session = Some(self.session.clone());
        self.bot.registry.dispatch(batch).await.results
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tools_are_found_by_catalogue_and_search_and_called_from_the_next_request() {
    let finder = Finder::new().await;
    let catalogue = finder.bot.registry.catalogue(finder.query());
    let listed: Vec<_> = catalogue.tools.iter().map(|tool| (&*tool.name, &*tool.source, &*tool.summary)).collect();
    // Without a summary the whole description stands there, and never what the host puts in front of it.
    assert_eq!(listed, [("lookup", "插件 notes", "查询内容"), ("write", "插件 notes", "写下一条。")]);

    let results = finder.batch(&[("tool_search", json!({"query": "支持分页"})), ("lookup", json!({}))]).await;
    assert_eq!(
        results[0].history_content(),
        r#"{"available_from":"next_model_request","tools":[{"name":"lookup","description":"查询内容","source":"插件 notes"}]}"#
    );
    assert_eq!(results[1].error.as_ref().unwrap().code, ErrorCode::PolicyNotLoaded, "the group's list is frozen");
    let results = finder.batch(&[("lookup", json!({})), ("write", json!({}))]).await;
    assert_eq!((results[0].status, results[0].history_content()), (CallStatus::Ok, "found".to_owned()));
    assert_eq!(results[1].status, CallStatus::Denied, "what was not found stays closed");
    let listed = finder.bot.registry.list_tools(finder.query());
    let lookup = listed.iter().find(|tool| &*tool.model_name == "lookup").unwrap();
    assert_eq!(lookup.spec.description, "[插件 notes] 搜索或读取内容，支持分页。");
    assert!(listed.iter().all(|tool| !tool.spec.metadata.contains_key("guide")), "a guide is no part of a definition");
    finder.bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn shared_instructions_come_once_with_the_first_found_tool_and_go_with_the_last() {
    let finder = Finder::new().await;
    let registry = &finder.bot.registry;
    assert_eq!(finder.guides(), "", "nothing is found yet");
    finder.batch(&[("tool_search", json!({"query": "lookup"})), ("tool_search", json!({"query": "write"}))]).await;
    let told = "<tool_guide source=\"notes\" kind=\"lenbot\">\n先查再写。\n</tool_guide>";
    assert_eq!(finder.guides(), told);

    let mut policy = (*registry.policy()).clone();
    policy.roles.insert("*".into(), ToolNames::new(["tool_search", "write"]));
    registry.set_policy(policy.clone());
    assert_eq!(finder.guides(), told, "one of its tools is still allowed");
    policy.denied.push(DenyRule::new(ToolNames::new(["notes.*"])));
    registry.set_policy(policy.clone());
    assert_eq!(finder.guides(), "");
    policy.denied.clear();
    registry.set_policy(policy);

    let file = finder.bot.path_of("notes").join("prompts/tools.md");
    std::fs::write(&file, "</tool_guide>先写再查。").unwrap();
    assert_eq!(finder.guides(), told, "it is read when the plugin is loaded");
    registry.reload("notes").await.unwrap();
    assert!(finder.guides().contains("\n&lt;/tool_guide>先写再查。\n"), "{}", finder.guides());
    registry.sessions().unload_all(&finder.session).unwrap();
    assert_eq!(finder.guides(), "", "history was compacted");
    finder.batch(&[("tool_search", json!({"query": "write"}))]).await;
    assert!(finder.guides().contains("先写再查"));
    registry.unregister("notes").await.unwrap();
    assert_eq!(finder.guides(), "");
    registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_preview_shows_what_a_scene_cannot_use_with_the_plugins_reason() {
    let bot = Bot::with_group_notes(json!({"scenes": [SCENE]})).await;
    let preview = |scene: &str| {
        let context = ToolExecutionContext { stream_id: scene.to_owned(), ..Default::default() };
        bot.registry.preview(&context, DefinitionForm::OpenAiChat, None)
    };
    let here = preview(SCENE);
    let of = |name: &str| here.tools.iter().find(|tool| &*tool.model_name == name).unwrap();
    let account = of("account_read");
    assert_eq!(account.state, PreviewState::Refused);
    assert!(account.reason.as_ref().unwrap().message.contains("账号读取未开启"), "{account:?}");
    let owner = of("owner_action");
    assert_eq!((owner.state, owner.summary.as_str()), (PreviewState::Listed, "主人操作"));
    let function = &owner.definition[0]["function"];
    assert_eq!(function["description"], "[插件 group_notes] 按主人真实请求执行操作。");
    assert_eq!(function["parameters"]["required"], json!(["source_message_id"]));
    assert!(here.guides.text().contains("先用 content_lookup"), "{}", here.guides.text());

    let elsewhere = preview("onebot:group:80004");
    assert!(elsewhere.guides.is_empty());
    for tool in &elsewhere.tools {
        let reason = tool.reason.as_ref().unwrap();
        assert!(reason.message.contains("未在场景 onebot:group:80004 启用"), "{tool:?}");
    }
    bot.registry.close(Duration::from_secs(5)).await;
}

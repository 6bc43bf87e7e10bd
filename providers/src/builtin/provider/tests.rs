use std::time::Duration;

use serde_json::{Value, json};
use toolyard::{
    BatchOutcome, CallStatus, ChatScope, ErrorCode, FunctionProvider, FunctionTool, LoadedSet, Locale, Policy, Ranking,
    RawArguments, SessionKey, Stage, ToolBatch, ToolCall, ToolExecutionContext, ToolExecutionResult, ToolQuery,
    ToolRegistry, TurnId, Visibility,
};

use super::*;

struct Bench {
    registry: ToolRegistry,
    session: SessionKey,
}

impl Bench {
    async fn new(own: &[BuiltinName], tools: impl IntoIterator<Item = FunctionTool>) -> Self {
        Self::with(BuiltinProvider::new("builtin", own), tools).await
    }

    async fn with(builtin: BuiltinProvider, tools: impl IntoIterator<Item = FunctionTool>) -> Self {
        let registry = ToolRegistry::new(toolyard::Limits::default());
        let plugin = tools.into_iter().fold(FunctionProvider::new("plugin"), FunctionProvider::with_tool);
        registry.register(Arc::new(plugin), ProviderSettings::default()).await.unwrap();
        registry.register(Arc::new(builtin), BuiltinProvider::settings()).await.unwrap();
        Self { registry, session: SessionKey { tenant: "".into(), session: "s".into() } }
    }

    fn ranked(self, ranking: Ranking) -> Self {
        let mut policy = Policy::default();
        policy.discovery.ranking = ranking;
        self.registry.set_policy(policy);
        self
    }

    fn listed(&self, context: &ToolExecutionContext) -> Vec<String> {
        let tools = self.registry.list_tools(ToolQuery::of_session(context, &self.session));
        tools.iter().map(|tool| tool.model_name.to_string()).collect()
    }

    async fn run(&self, calls: &[(&str, Value)], locale: Locale) -> BatchOutcome {
        let calls = calls.iter().enumerate().map(|(n, (tool, arguments))| {
            ToolCall::new(format!("c{n}").as_str(), *tool, RawArguments::text(arguments.to_string()))
        });
        let context = ToolExecutionContext { locale, ..ToolExecutionContext::default() };
        let mut batch = ToolBatch::new(calls.collect()).with_context(Arc::new(context));
        batch.session = Some(self.session.clone());
        self.registry.dispatch(batch).await
    }

    async fn text(&self, tool: &str, arguments: Value, locale: Locale) -> (CallStatus, String) {
        let outcome = self.run(&[(tool, arguments)], locale).await;
        (outcome.results[0].status, outcome.results[0].history_content())
    }
}

fn deferred(name: &str, summary: &str) -> FunctionTool {
    tool(name, summary, |spec| spec.visibility = Some(Visibility::Deferred))
}

fn on_demand(name: &str) -> FunctionTool {
    tool(name, "on demand", |spec| spec.flags.on_demand = true)
}

fn tool(name: &str, summary: &str, change: impl FnOnce(&mut ToolSpec)) -> FunctionTool {
    FunctionTool::from_fn(name, summary, |_| async { Ok("ran".to_owned()) }).map_spec(|mut spec| {
        change(&mut spec);
        spec
    })
}

#[tokio::test]
async fn tools_that_load_others_are_offered_only_where_there_is_something_to_load() {
    let context = ToolExecutionContext::default();
    let bench = Bench::new(&BuiltinName::ALL, []).await;
    assert_eq!(bench.listed(&context), ["finish", "wait"]);
    let bench = Bench::new(&BuiltinName::ALL, [deferred("a", "x")]).await;
    assert_eq!(bench.listed(&context), ["finish", "tool_search", "wait"]);
    let bench = Bench::new(&BuiltinName::LOADING, [deferred("a", "x"), on_demand("b")]).await;
    assert_eq!(bench.listed(&context), ["plugins_use", "tool_search"]);
    // Without a session everything is listed already.
    let listed = bench.registry.list_tools(&context);
    assert_eq!(listed.iter().map(|tool| &*tool.model_name).collect::<Vec<_>>(), ["a", "b"]);
    let call = ToolCall::new("c", "tool_search", RawArguments::text(r#"{"query": "a"}"#));
    let refused = bench.registry.invoke(call, Arc::default()).await.unwrap();
    assert_eq!(refused.error.unwrap().code, ErrorCode::ToolUnavailable);
}

#[tokio::test]
async fn a_search_gives_maibots_lines_and_its_finds_can_be_called_in_the_next_batch() {
    let bench = Bench::new(
        &[BuiltinName::ToolSearch],
        [
            deferred("get_weather", "tells the weather"),
            deferred("weather_alert", "warns"),
            deferred("other", "does other things"),
        ],
    )
    .await;
    let both = [("tool_search", json!({"query": "weather"})), ("weather_alert", json!({}))];
    let outcome = bench.run(&both, Locale::Zh).await;
    assert_eq!(outcome.results[0].history_content(), "- weather_alert（本次新发现）\n- get_weather（本次新发现）");
    assert_eq!(outcome.results[1].error.as_ref().unwrap().code, ErrorCode::PolicyNotLoaded, "not in the same batch");
    assert_eq!(bench.text("weather_alert", json!({}), Locale::Zh).await, (CallStatus::Ok, "ran".to_owned()));
    assert_eq!(bench.text("other", json!({}), Locale::Zh).await.0, CallStatus::Denied);

    let (_, again) = bench.text("tool_search", json!({"query": "weather", "limit": 1}), Locale::Zh).await;
    assert_eq!(again, "- weather_alert（此前已发现）");
    let (_, english) = bench.text("tool_search", json!({"query": "other", "limit": -1}), Locale::En).await;
    assert_eq!(english, "- other (found now)");
    let (status, nothing) = bench.text("tool_search", json!({"query": "rain"}), Locale::Zh).await;
    assert!(status == CallStatus::Ok && nothing.contains("没有找到与“rain”匹配的工具"), "{nothing}");
    let (status, blank) = bench.text("tool_search", json!({"query": " \n"}), Locale::En).await;
    assert_eq!((status, blank.as_str()), (CallStatus::ToolError, "query must not be blank"));
}

#[tokio::test]
async fn a_search_gives_lenbots_json_with_the_summary_wherever_the_hit_was() {
    let hit = deferred("lookup", "").map_spec(|mut spec| {
        spec.metadata.insert("source".to_owned(), json!("插件 notes"));
        spec.description = "[插件 notes] 搜索内容，支持分页。".to_owned();
        spec.brief_description = Some("查询内容".to_owned());
        spec
    });
    let many = (0..9).map(|n| deferred(&format!("page_{n}"), "分页"));
    let bench = Bench::new(&[BuiltinName::ToolSearch], many.chain([hit])).await.ranked(Ranking::LenBot);
    let (_, text) = bench.text("tool_search", json!({"query": "支持分页"}), Locale::Zh).await;
    let tools = r#"[{"name":"lookup","description":"查询内容","source":"插件 notes"}]"#;
    assert_eq!(text, format!(r#"{{"available_from":"next_model_request","tools":{tools}}}"#));
    let (_, text) = bench.text("tool_search", json!({"query": "page", "limit": 50}), Locale::Zh).await;
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["tools"].as_array().unwrap().len(), 5, "never more than five");
    let (_, text) = bench.text("tool_search", json!({"query": "插件"}), Locale::Zh).await;
    assert_eq!(text, r#"{"available_from":"next_model_request","tools":[]}"#, "its source is not its description");
}

#[tokio::test]
async fn a_plugin_is_loaded_as_a_whole_and_an_unknown_one_is_answered_with_those_that_there_are() {
    let bench = Bench::new(&BuiltinName::ALL, [on_demand("one"), on_demand("two")]).await;
    assert_eq!(bench.text("one", json!({}), Locale::En).await.0, CallStatus::Denied);
    let (status, text) = bench.text("plugins_use", json!({"plugin": "nope"}), Locale::En).await;
    assert_eq!(status, CallStatus::ToolError);
    assert!(text.contains("those that can be loaded are plugin"), "{text}");
    let (status, text) = bench.text("plugins.use", json!({"plugin": "plugin"}), Locale::En).await;
    assert!(status == CallStatus::Ok && text.contains("- one: on demand\n- two: on demand"), "{text}");
    assert_eq!(bench.text("two", json!({}), Locale::En).await.0, CallStatus::Ok);
    let (_, again) = bench.text("plugins_use", json!({"plugin": "plugin"}), Locale::Zh).await;
    assert!(again.starts_with("plugin 此前已加载"), "{again}");
    bench.registry.sessions().unload_all(&bench.session).unwrap();
    assert_eq!(bench.text("two", json!({}), Locale::En).await.0, CallStatus::Denied);
}

#[tokio::test]
async fn no_other_provider_takes_a_built_in_name_whatever_the_order() {
    let thief = |name: &str| tool(name, "another", |_| ());
    // They are registered first.
    let bench =
        Bench::new(&BuiltinName::ALL, [thief("finish"), thief("plugins.use"), thief("plugins_use"), thief("mine")])
            .await;
    let owner = |name: &str| bench.registry.get_tool_spec(name).unwrap().provider_name;
    for name in ["finish", "plugins.use", "plugins_use"] {
        assert_eq!(&*owner(name), "builtin", "{name}");
    }
    assert_eq!(&*owner("mine"), "plugin");
    let context = ToolExecutionContext::default();
    let preview = bench.registry.preview(&context, toolyard::DefinitionForm::Native, None);
    let shadowed: Vec<_> = preview.left_out.iter().map(|left| left.tool.clone().unwrap()).collect();
    assert_eq!(shadowed, ["finish", "plugins.use", "plugins_use"], "{preview:#?}");
    assert!(preview.left_out[0].reason.contains("`builtin.finish` has its name"));
}

#[tokio::test]
async fn a_host_adds_its_own_tools_with_their_stage_chats_visibility_and_switches() {
    let own = |name: &str| {
        BuiltinTool::new(ToolSpec::new(name, "of the host"), |_, _| {
            std::future::ready(Ok(ToolExecutionResult::success("sent")))
        })
    };
    let table = [
        own("reply"),
        own("timing").in_stage(Stage::Timing),
        own("react").in_chats(ChatScope::Group),
        own("forward").with_visibility(Visibility::Deferred),
        own("send_emoji").enabled(false),
        own("focus").unless(|context| (context.platform != "qq").then(|| Reason("only there".to_owned()))),
        BuiltinName::Finish.entry(),
        BuiltinName::ToolSearch.entry(),
    ];
    let bench = Bench::with(BuiltinProvider::with_tools("host", table), []).await;
    let plain = ToolExecutionContext::default();
    assert_eq!(bench.listed(&plain), ["finish", "reply", "tool_search"]);
    let group = ToolExecutionContext {
        is_group_chat: true,
        stage: Stage::Timing,
        platform: "qq".to_owned(),
        ..ToolExecutionContext::default()
    };
    assert_eq!(bench.listed(&group), ["finish", "focus", "react", "reply", "timing", "tool_search"]);
    assert!(!bench.registry.has_tool("send_emoji"));
    let loaded = LoadedSet { tools: ["host.forward".into()].into(), ..LoadedSet::default() };
    bench.registry.sessions().load(&bench.session, &loaded).await;
    assert!(bench.listed(&plain).contains(&"forward".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn finish_stops_the_turn_and_wait_keeps_to_its_time_and_its_deadline() {
    let bench = Bench::new(&BuiltinName::ALL, []).await;
    let began = tokio::time::Instant::now();
    let (status, text) = bench.text("wait", json!({}), Locale::En).await;
    assert_eq!((status, text.as_str(), began.elapsed()), (CallStatus::Ok, "waited 30 s", Duration::from_secs(30)));
    assert_eq!(bench.text("wait", json!({"seconds": 601}), Locale::En).await.0, CallStatus::InvalidArguments);
    let long = ToolCall::new("c", "wait", RawArguments::text(r#"{"seconds": 600}"#));
    let mut batch = ToolBatch::new(vec![long]);
    batch.deadline = Some(Duration::from_secs(2));
    assert_eq!(bench.registry.dispatch(batch).await.results[0].status, CallStatus::Timeout);

    let turn = TurnId("t".into());
    let mut batch = ToolBatch::new(vec![ToolCall::new("c", "finish", RawArguments::text("{}"))]);
    (batch.session, batch.turn) = (Some(bench.session.clone()), Some(turn.clone()));
    assert!(bench.registry.dispatch(batch).await.stop);
    assert!(bench.registry.sessions().state(&bench.session).unwrap().turn.stopped);
}

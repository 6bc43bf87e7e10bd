//! Real plugins on the public SDK ask for everything that there is, and tell what they get.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::{
    Limits, ProviderSettings, ProviderState, RawArguments, ToolBatch, ToolCall, ToolExecutionContext, ToolRegistry,
};
use toolyard_providers::{
    CapabilityConfig, DefinitionSource, MaiBotConfig, PluginHost, RunnerConfig, SimulatedHost, Spawner, ToolDefinition,
};
use toolyard_tests::{Environment, HANG};

/// Everything that the plugin may be allowed.
const ALL: &[&str] = &[
    "api.call",
    "api.get",
    "api.list",
    "chat.get_all_streams",
    "chat.get_avatar",
    "chat.get_stream_by_group_id",
    "component.disable",
    "component.enable",
    "component.get_all_plugins",
    "component.list_loaded_plugins",
    "config.get",
    "config.get_all",
    "config.get_plugin",
    "database.count",
    "database.delete",
    "database.get",
    "database.query",
    "database.save",
    "emoji.delete",
    "emoji.get_count",
    "emoji.get_random",
    "frequency.get_adjust",
    "frequency.set_adjust",
    "knowledge.search",
    "llm.embed",
    "llm.generate",
    "llm.get_available_models",
    "maisaka.proactive.trigger",
    "maisaka.reply.generate",
    "market.search",
    "message.build_readable",
    "message.count_new",
    "message.get_by_id",
    "message.get_recent",
    "person.get_id",
    "person.get_value",
    "render.html2png",
    "send.custom",
    "send.forward",
    "send.text",
    "statistics.local.models",
    "statistics.local.tool_trend",
    "tool.get_definitions",
    "webui.claim_upload",
];

/// Two plugins in their processes, and a bot that is simulated.
struct Fleet {
    registry: ToolRegistry,
    bot: Arc<SimulatedHost>,
    plugins: PluginHost,
    _folder: tempfile::TempDir,
}

// === impl Fleet ===

impl Fleet {
    async fn start(capabilities: &[&str], bot: SimulatedHost) -> Self {
        let environment = Environment::get();
        let folder = tempfile::tempdir().unwrap();
        let bot_config = folder.path().join("bot.toml");
        std::fs::write(&bot_config, "[bot]\nnickname = \"Mai\"\n").unwrap();
        let bot = Arc::new(bot);
        let spawner = Arc::new(Spawner::new(Some(environment.binary)).unwrap());
        let config = CapabilityConfig { bot_config: Some(bot_config), data_dir: Some(folder.path().join("rows")) };
        let plugins = PluginHost::new(spawner, bot.clone()).unwrap().with_capabilities(config);
        let registry = ToolRegistry::new(Limits::default());
        for name in ["capabilities", "neighbour"] {
            let path = folder.path().join(name);
            copy_plugin(name, &path, capabilities);
            let plugin: MaiBotConfig = serde_json::from_value(json!({"path": path})).unwrap();
            let python = environment.python.to_str().unwrap().to_owned();
            let runner = RunnerConfig { python, watch: false, ..RunnerConfig::default() };
            let mut settings = ProviderSettings::default();
            settings.start_timeout = HANG;
            registry.launch(Arc::new(plugins.maibot(name, plugin, runner)), settings).await.unwrap();
        }
        registry.wait_started(HANG).await;
        for status in registry.providers() {
            assert_eq!(status.state, ProviderState::Up, "{}: {:?}", status.name, status.reason);
        }
        Self { registry, bot, plugins, _folder: folder }
    }

    /// What a tool of the plugin says that it got.
    async fn tool(&self, tool: &str, arguments: &Value) -> Value {
        let call = ToolCall::new("c1", tool, RawArguments::from(arguments));
        let outcome = self.registry.dispatch(ToolBatch::new(vec![call])).await;
        let result = &outcome.results[0];
        let structured = result.result.structured_content.as_ref();
        let document = structured.unwrap_or_else(|| panic!("{tool}: {}", result.history_content()));
        document.to::<Value>().unwrap()["got"].clone()
    }

    /// What a method of the SDK's context gives.
    async fn ask(&self, method: &str, named: Value) -> Value {
        self.tool("ask", &json!({"method": method, "named": named})).await
    }
}

fn copy_plugin(name: &str, to: &Path, capabilities: &[&str]) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/maibot").join(name);
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(&from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    let path = to.join("_manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    manifest["capabilities"] = json!(capabilities);
    std::fs::write(&path, manifest.to_string()).unwrap();
}

#[tokio::test]
async fn the_sdk_gets_values_of_the_right_kind_from_a_simulated_bot() {
    let fleet = Fleet::start(ALL, SimulatedHost::new()).await;
    let chat = json!({"chat_id": "s1"});
    let vector = fleet.ask("llm.embed", json!({"text": "x"})).await;
    assert_eq!(vector["embedding"].as_array().unwrap().len(), 16);
    let details = json!({"text": "hi", "stream_id": "s1", "return_details": true});
    for (method, named, got) in [
        ("send.text", json!({"text": "hi", "stream_id": "s1"}), json!(true)),
        ("send.text", details, json!({"sent": true, "message_id": "simulated-3"})),
        ("send.custom", json!({"custom_type": "poke", "data": {"n": 1}, "stream_id": "s1"}), json!(true)),
        ("send.forward", json!({"messages": [], "stream_id": "s1"}), json!(true)),
        ("message.get_recent", chat.clone(), json!([])),
        ("message.get_by_id", json!({"message_id": "m1"}), json!(null)),
        ("message.count_new", json!({"chat_id": "s1", "since": "0"}), json!(0)),
        ("message.build_readable", json!({"messages": []}), json!("")),
        ("chat.get_all_streams", json!({}), json!([])),
        ("chat.get_stream_by_group_id", json!({"group_id": "g"}), json!(null)),
        ("person.get_id", json!({"platform": "qq", "user_id": "1"}), json!("")),
        ("person.get_value", json!({"person_id": "p", "field_name": "name"}), json!(null)),
        ("emoji.get_random", json!({}), json!([])),
        ("emoji.get_count", json!({}), json!(0)),
        ("frequency.get_adjust", chat.clone(), json!(1.0)),
        ("frequency.set_adjust", json!({"chat_id": "s1", "value": 0.5}), json!(true)),
        ("knowledge.search", json!({"query": "x"}), json!("")),
        ("llm.get_available_models", json!({}), json!(["simulated"])),
        ("statistics.local.models", json!({}), json!([])),
    ] {
        assert_eq!(fleet.ask(method, named).await, got, "{method}");
    }
    let kept: Vec<String> = fleet.bot.sent().into_iter().map(|sent| sent.capability).collect();
    assert_eq!(kept, ["send.text", "send.text", "send.text", "send.custom", "send.forward"], "the first while loading");
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn the_sdk_gets_whole_documents_where_it_takes_them_whole() {
    let fleet = Fleet::start(ALL, SimulatedHost::new()).await;
    let generated = fleet.ask("llm.generate", json!({"prompt": "hi", "timeout_ms": 5000})).await;
    assert_eq!((&generated["success"], &generated["model"]), (&json!(true), &json!("simulated")));
    assert_eq!((&generated["simulated"], &generated["reasoning"]), (&json!(true), &json!("")));
    assert!(generated["response"].as_str().unwrap().contains("simulated"));
    let text = fleet.ask("maisaka.reply.generate", json!({"stream_id": "s1", "reference": "x"})).await;
    assert!(text["text"].is_string(), "{text}");
    let triggered = fleet.ask("maisaka.proactive.trigger", json!({"stream_id": "s1", "intent": "x"})).await;
    assert_eq!(triggered["success"], json!(true));
    let picture = fleet.ask("render.html2png", json!({"html": "<p>x</p>"})).await;
    assert_eq!((&picture["mime_type"], &picture["width"]), (&json!("image/png"), &json!(1)));
    let avatar = fleet.ask("chat.get_avatar", json!({"platform": "qq", "target_id": "1"})).await;
    assert_eq!(avatar["status"], json!("unsupported"));
    for (method, named) in [("market.search", json!({})), ("webui.claim_upload", json!({"upload_id": "u"}))] {
        let raised = fleet.ask(method, named).await;
        assert!(raised["raised"].as_str().unwrap().contains("[E_CAPABILITY_FAILED]"), "{method}: {raised}");
    }
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn an_answer_without_its_key_is_raised_and_never_taken_for_the_value() {
    let recording = r#"{"person.get_id":{"success":true},"message.get_recent":{"success":true,"messages":[{"id":1}]}}"#;
    let fleet = Fleet::start(ALL, SimulatedHost::with_recording(recording).unwrap()).await;
    let raised = fleet.ask("person.get_id", json!({"platform": "qq", "user_id": "1"})).await;
    let sentence = "[E_CAPABILITY_FAILED] the bot backend's answer to `person.get_id` has no `person_id`";
    assert_eq!(raised, json!({"raised": sentence}));
    assert_eq!(fleet.ask("message.get_recent", json!({"chat_id": "s1"})).await, json!([{"id": 1}]));
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn the_host_answers_what_is_its_own() {
    let fleet = Fleet::start(ALL, SimulatedHost::new()).await;
    assert_eq!(fleet.ask("config.get", json!({"key": "bot.nickname"})).await, json!("Mai"));
    assert_eq!(fleet.ask("config.get", json!({"key": "bot.age", "default": 3})).await, json!(3));
    let own = json!({"plugin": {"enabled": true}, "taste": {"colour": "blue"}});
    assert_eq!(fleet.ask("config.get_all", json!({})).await, own);
    assert_eq!(fleet.ask("config.get_plugin", json!({})).await, own);
    let loading = fleet.tool("loading", &json!({})).await;
    assert_eq!(loading, json!({"own": own, "send": true}), "a plugin may ask while it is loaded");
    let loaded = fleet.ask("component.list_loaded_plugins", json!({})).await;
    assert_eq!(loaded, json!(["test.capabilities", "test.neighbour"]));
    let all = fleet.ask("component.get_all_plugins", json!({})).await;
    assert_eq!(all["test.neighbour"]["name"], json!("Neighbour"));
    let trend = fleet.ask("statistics.local.tool_trend", json!({"days": 1})).await;
    let asked = trend["items"].as_array().unwrap().iter().find(|item| item["name"] == json!("ask")).unwrap();
    assert_eq!((&asked["plugin"], asked["total"].as_u64().unwrap() >= 6), (&json!("capabilities"), true));

    #[derive(Debug)]
    struct One;
    impl DefinitionSource for One {
        fn definitions(&self) -> Vec<ToolDefinition> {
            let parameters = json!({"type": "object"});
            vec![ToolDefinition { name: "wave".to_owned(), description: "Waves.".to_owned(), parameters }]
        }
    }
    fleet.plugins.hub().set_definitions(Arc::new(One));
    let tools = fleet.ask("tool.get_definitions", json!({})).await;
    assert_eq!(tools, json!([{"name": "wave", "description": "Waves.", "parameters": {"type": "object"}}]));
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn rows_go_to_the_store_and_come_back() {
    let fleet = Fleet::start(ALL, SimulatedHost::new()).await;
    let save = json!({"model_name": "Note", "data": {"title": "买菜", "done": false}});
    let saved = fleet.ask("db.save", save).await;
    assert_eq!(saved, json!({"id": 1, "title": "买菜", "done": false}));
    let update = json!({"model_name": "Note", "query_type": "update", "data": {"done": true}, "filters": {"id": 1}});
    assert_eq!(fleet.ask("db.query", update).await, json!(1));
    let get = json!({"model_name": "Note", "filters": {"done": true}, "order_by": "-id", "single_result": true});
    assert_eq!(fleet.ask("db.get", get).await["title"], json!("买菜"));
    assert_eq!(fleet.ask("db.count", json!({"model_name": "Note"})).await, json!(1));
    assert_eq!(fleet.ask("db.delete", json!({"model_name": "Note", "filters": {"id": 1}})).await, json!(1));
    assert_eq!(fleet.ask("db.get", json!({"model_name": "Note"})).await, json!([]));
    let raised = fleet.ask("db.get", json!({"model_name": ""})).await;
    assert!(raised["raised"].as_str().unwrap().starts_with("[E_BAD_PAYLOAD]"), "{raised}");
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn plugins_call_one_anothers_apis() {
    let fleet = Fleet::start(ALL, SimulatedHost::new()).await;
    let add = json!({"api_name": "test.neighbour.add", "a": 2, "b": 40});
    assert_eq!(fleet.ask("api.call", add).await, json!(42));
    assert_eq!(fleet.ask("api.call", json!({"api_name": "late", "n": 1})).await, json!({"late": {"n": 1}}));
    let info = fleet.ask("api.get", json!({"api_name": "add"})).await;
    assert_eq!((&info["version"], &info["plugin_id"]), (&json!("2"), &json!("test.neighbour")));
    let listed = fleet.ask("api.list", json!({})).await;
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|api| api["full_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["test.capabilities.late", "test.neighbour.add", "test.neighbour.broken"]);
    for (api, sentence) in [
        ("secret", "[E_METHOD_NOT_ALLOWED] the API `secret` of plugin `test.neighbour` is not public"),
        ("nothing", "[E_PLUGIN_NOT_FOUND] no plugin that is up has the API `nothing`"),
    ] {
        assert_eq!(fleet.ask("api.call", json!({"api_name": api})).await, json!({"raised": sentence}));
    }
    let broken = fleet.ask("api.call", json!({"api_name": "broken"})).await.to_string();
    assert!(
        broken.contains("[E_CAPABILITY_FAILED] the API `broken` failed: ") && broken.contains("it is broken"),
        "{broken}"
    );
    fleet.registry.reload("neighbour").await.unwrap();
    let add = json!({"api_name": "test.neighbour.add", "a": 1, "b": 1});
    assert_eq!(fleet.ask("api.call", add.clone()).await, json!(2), "the fresh instance answers");
    fleet.registry.unregister("neighbour").await.unwrap();
    let gone = fleet.ask("api.call", add).await;
    assert!(gone["raised"].as_str().unwrap().starts_with("[E_PLUGIN_NOT_FOUND]"), "{gone}");
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_component_that_a_plugin_switches_off_is_off() {
    let fleet = Fleet::start(ALL, SimulatedHost::new()).await;
    let lists_wave = |stream_id: &str| {
        let context = ToolExecutionContext { stream_id: stream_id.to_owned(), ..ToolExecutionContext::default() };
        fleet.registry.list_tools(&context).iter().any(|tool| &*tool.model_name == "wave")
    };
    assert!(lists_wave("s1"));
    let named = json!({"name": "wave", "component_type": "tool", "scope": "stream", "stream_id": "s1"});
    assert_eq!(fleet.ask("component.disable_component", named.clone()).await, json!({"success": true}));
    assert!(!lists_wave("s1"));
    assert!(lists_wave("s2"));
    assert_eq!(fleet.ask("component.enable_component", named).await, json!({"success": true}));
    assert!(lists_wave("s1"));
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn what_the_manifest_does_not_list_is_denied() {
    let fleet = Fleet::start(&["send.text"], SimulatedHost::new()).await;
    assert_eq!(fleet.ask("send.text", json!({"text": "hi", "stream_id": "s1"})).await, json!(true));
    for (method, named, capability) in [
        ("config.get_all", json!({}), "config.get_all"),
        ("llm.generate", json!({"prompt": "hi"}), "llm.generate"),
        ("db.get", json!({"model_name": "Note"}), "database.get"),
        ("api.call", json!({"api_name": "add", "a": 1, "b": 1}), "api.call"),
    ] {
        let sentence = format!(
            "[E_CAPABILITY_DENIED] plugin `test.capabilities` may not use `{capability}`: \
             add \"{capability}\" to `capabilities` in its _manifest.json"
        );
        assert_eq!(fleet.ask(method, named).await, json!({"raised": sentence}));
    }
    fleet.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn every_capability_of_the_document_is_known() {
    let document =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/capabilities.md")).unwrap();
    let named: Vec<&str> = document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(named.len() > 70, "the table was not found");
    let fleet = Fleet::start(&named, SimulatedHost::new()).await;
    for name in named {
        // Without arguments most of them are refused, but none as something that nobody knows.
        let got = fleet.tool("raw", &json!({"name": name})).await.to_string();
        for unknown in ["E_METHOD_NOT_ALLOWED", "E_CAPABILITY_DENIED", "E_UNKNOWN", "unavailable"] {
            assert!(!got.contains(unknown), "{name}: {got}");
        }
    }
    fleet.registry.close(Duration::from_secs(5)).await;
}

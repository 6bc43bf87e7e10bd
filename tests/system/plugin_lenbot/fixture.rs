//! A registry with LenBot plugins in real processes, and a bot backend that answers from memory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolyard::{
    CallResult, CallStatus, ErrorCode, HostPort, HostRequest, JsonText, Limits, Profile, ProviderSettings,
    RawArguments, ReceivedMessage, SessionKey, ToolBatch, ToolCall, ToolExecutionContext, ToolFailure, ToolRegistry,
    TurnId, TurnStart,
};
use toolyard_providers::{LenBotConfig, PluginHost, RunnerConfig, Spawner};
use toolyard_tests::{Environment, HANG};

pub(super) const SCENE: &str = "onebot:group:80001";

/// Answers what plugins ask for, and keeps what they asked.
#[derive(Debug, Default)]
pub(super) struct Backend {
    pub(super) asked: Mutex<Vec<(String, Value)>>,
}

/// A registry, its processes and its backend.
pub(super) struct Bot {
    pub(super) registry: ToolRegistry,
    pub(super) backend: Arc<Backend>,
    host: PluginHost,
    folder: tempfile::TempDir,
}

// === impl Backend ===

impl Backend {
    pub(super) fn asked_for(&self, capability: &str) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(name, _)| name == capability).map(|(_, payload)| payload.clone()).collect()
    }

    fn answer(request: &HostRequest, asked: &Value) -> Option<Value> {
        Some(match request.capability.as_str() {
            "lenbot.messages_between" => {
                let (offset, limit) = (asked["offset"].as_u64()?, asked["limit"].as_u64()?);
                let listed: Vec<_> = (0..5).map(|id| message(&format!("m{id}"), "onebot:70002")).collect();
                let page: Vec<_> = listed.into_iter().skip(offset as usize).take(limit as usize).collect();
                json!({"messages": page})
            }
            "lenbot.message" if asked["message_id"] == "stored" => message("stored", "onebot:70002"),
            "lenbot.message" => Value::Null,
            "lenbot.owners" => json!(["onebot:70001"]),
            "lenbot.generate" => json!({"text": "写好了"}),
            "lenbot.send" if asked["parts"][0]["text"] == "odd" => json!("sure"),
            "lenbot.send" => json!({"status": "sent", "report": "已发送", "message_ids": ["901", "902"]}),
            _ => return None,
        })
    }
}

impl HostPort for Backend {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let asked: Value = request.payload.to().unwrap();
        let answer = Self::answer(&request, &asked);
        self.asked.lock().unwrap().push((request.capability, asked));
        let unknown = || ToolFailure::not_sent(ErrorCode::ToolUnavailable, "the backend does not know it");
        Box::pin(std::future::ready(answer.map(JsonText::from).ok_or_else(unknown)))
    }
}

// === impl Bot ===

impl Bot {
    pub(super) fn new() -> Self {
        let spawner = Arc::new(Spawner::new(Some(Environment::get().binary)).unwrap());
        let backend = Arc::new(Backend::default());
        let host = PluginHost::new(spawner, Arc::clone(&backend) as Arc<dyn HostPort>).unwrap();
        Self { registry: ToolRegistry::new(Limits::default()), backend, host, folder: tempfile::tempdir().unwrap() }
    }

    /// The plugin `group_notes` with this configuration beside its path.
    pub(super) async fn with_group_notes(config: Value) -> Self {
        let bot = Self::new();
        bot.launch("group_notes", &group_notes(), config).await;
        bot.registry.wait_started(HANG).await;
        assert_eq!(bot.reason("group_notes"), None);
        bot
    }

    /// Starts the plugin in this folder without waiting for it.
    pub(super) async fn launch(&self, name: &str, path: &Path, mut config: Value) {
        config["path"] = json!(path);
        let config: LenBotConfig = serde_json::from_value(config).unwrap();
        let data = self.data_of(name);
        std::fs::create_dir_all(&data).unwrap();
        let runner = RunnerConfig {
            python: Environment::get().python.to_string_lossy().into_owned(),
            data_dir: Some(data),
            watch: false,
            unload_ms: HANG.as_millis().try_into().unwrap(),
            ..RunnerConfig::default()
        };
        let mut settings = ProviderSettings::default();
        (settings.start_timeout, settings.close_timeout) = (HANG, HANG);
        let connector = self.host.lenbot(name, config, runner);
        self.registry.launch(Arc::new(connector), settings).await.unwrap();
    }

    /// A plugin of this code in a folder of its own, with further lines in its manifest.
    pub(super) fn write(&self, name: &str, code: &str, manifest: &str) -> PathBuf {
        let path = self.path_of(name);
        std::fs::create_dir_all(&path).unwrap();
        let head = format!(
            "name = \"{name}\"\nversion = \"1.0\"\ninterface = 1\nrequires_lenbot = \">=0.2\"\n\
             requires_python = \">=3.11\"\nplatforms = [\"linux\", \"darwin\"]\nreload = \"plugin\"\n\
             authors = [\"a\"]\nlicense = \"MIT\"\ndescription = \"d\"\n"
        );
        std::fs::write(path.join("plugin.toml"), format!("{head}{manifest}")).unwrap();
        std::fs::write(path.join("__init__.py"), code).unwrap();
        path
    }

    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn data_of(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("data-{name}"))
    }

    /// Why the provider is not up, if it is not.
    pub(super) fn reason(&self, name: &str) -> Option<String> {
        let providers = self.registry.providers();
        providers.iter().find(|provider| *provider.name == *name).unwrap().reason.clone()
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> CallResult {
        self.call_in(tool, arguments, json!({"stream_id": SCENE})).await
    }

    /// Strictly, as LenBot reads arguments.
    pub(super) async fn call_in(&self, tool: &str, arguments: Value, context: Value) -> CallResult {
        let context: ToolExecutionContext = serde_json::from_value(context).unwrap();
        let call = ToolCall::new("c", tool, RawArguments::from(&arguments));
        let batch = ToolBatch::new(vec![call]).with_context(Arc::new(context)).with_policy(Profile::Strict);
        self.registry.dispatch(batch).await.results.remove(0)
    }

    /// Begins a turn of the bot's session.
    pub(super) async fn begin_turn(&self, id: &str, messages: Vec<ReceivedMessage>) {
        let start = TurnStart { id: TurnId(id.into()), messages };
        self.registry.sessions().begin_turn(&session(), start).await.unwrap();
    }

    /// A call of the session, for which deferred tools count as loaded, on account of this message.
    pub(super) async fn call_for(&self, tool: &str, message: &str) -> CallResult {
        let context = ToolExecutionContext { stream_id: SCENE.to_owned(), ..ToolExecutionContext::default() };
        let call = ToolCall::new("c", tool, RawArguments::from(&json!({"source_message_id": message})));
        let batch = ToolBatch::new(vec![call]).with_context(Arc::new(context)).with_policy(Profile::Strict);
        let batch = batch.with_session(session()).with_all_loaded();
        self.registry.dispatch(batch).await.results.remove(0)
    }

    /// The text that the model sees of such a call, and how it ended.
    pub(super) async fn asked_by(&self, tool: &str, message: &str) -> (CallStatus, String) {
        let result = self.call_for(tool, message).await;
        (result.status, result.history_content())
    }

    /// The text that the model sees of a call, and how the call ended.
    pub(super) async fn text(&self, tool: &str, arguments: Value) -> (CallStatus, String) {
        let result = self.call(tool, arguments).await;
        (result.status, result.history_content())
    }
}

pub(super) fn group_notes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/lenbot/group_notes")
}

fn session() -> SessionKey {
    SessionKey { tenant: "".into(), session: "s".into() }
}

/// A message as the session receives it.
pub(super) fn received(body: Value) -> ReceivedMessage {
    ReceivedMessage {
        id: body["platform_message_id"].as_str().unwrap().into(),
        sender: body["sender"]["uid"].as_str().unwrap().into(),
        body: Arc::new(body),
        ..ReceivedMessage::default()
    }
}

/// A message as the backend has it.
pub(super) fn message(id: &str, sender: &str) -> Value {
    json!({
        "id": format!("row-{id}"), "platform_message_id": id, "platform": "onebot", "scene": SCENE, "time": 1.5,
        "sender": {"uid": sender, "nickname": "小满"}, "segments": [{"type": "text", "data": {"text": "请做"}}],
        "send_status": "received", "is_self": false, "recalled": false,
    })
}

//! MaiBot's plugins on the public SDK, in real processes.

mod calls;
mod declarations;
mod lifecycle;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolyard::{
    CallResult, ErrorCode, HostPort, HostRequest, JsonText, Limits, ProviderSettings, ProviderState, ProviderStatus,
    RawArguments, ToolCall, ToolExecutionContext, ToolFailure, ToolRegistry,
};
use toolyard_providers::{PluginHost, RunnerConfig, Spawner};
use toolyard_tests::{Environment, HANG};

/// The provider's name in all tests.
const NAME: &str = "plugin";

/// One plugin behind an engine. What it writes goes to a copy of its folder.
struct Yard {
    registry: ToolRegistry,
    folder: TempDir,
    bot: Arc<Bot>,
    _spawner: Arc<Spawner>,
}

/// A bot that can send text and nothing else; remembers what it was asked.
#[derive(Debug, Default)]
struct Bot {
    asked: Mutex<Vec<(String, Value)>>,
}

// === impl Yard ===

impl Yard {
    /// Starts one of the plugins that stand in the repository.
    async fn with_plugin(name: &str) -> Self {
        Self::started(copy_of(name), json!({})).await
    }

    /// Starts a plugin of this code, with the manifest of the others and these changes to it.
    async fn with_code(code: &str, manifest: &Value) -> Self {
        Self::started(written(code, manifest), json!({})).await
    }

    /// Starts the plugin in this folder, with further keys of its configuration.
    async fn started(folder: TempDir, mut config: Value) -> Self {
        let environment = Environment::get();
        let spawner = Arc::new(Spawner::new(Some(environment.binary.clone())).unwrap());
        let bot = Arc::new(Bot::default());
        let host = PluginHost::new(Arc::clone(&spawner), Arc::clone(&bot) as Arc<dyn HostPort>).unwrap();
        let registry = ToolRegistry::with_host(Limits::default(), Arc::clone(&bot) as Arc<dyn HostPort>);
        config["path"] = json!(folder.path());
        let python = environment.python.to_str().unwrap().to_owned();
        let unload_ms = HANG.as_millis().try_into().unwrap();
        let runner = RunnerConfig { python, unload_ms, ..RunnerConfig::default() };
        let connector = host.maibot(NAME, serde_json::from_value(config).unwrap(), runner);
        let mut settings = ProviderSettings::default();
        (settings.start_timeout, settings.close_timeout) = (HANG, HANG);
        registry.launch(Arc::new(connector), settings).await.unwrap();
        registry.wait_started(HANG).await;
        Self { registry, folder, bot, _spawner: spawner }
    }

    fn status(&self) -> ProviderStatus {
        self.registry.providers().into_iter().find(|provider| &*provider.name == NAME).unwrap()
    }

    /// Why it did not start.
    fn refusal(&self) -> String {
        let status = self.status();
        assert_ne!(status.state, ProviderState::Up, "it started: {status:?}");
        status.reason.unwrap_or_default()
    }

    /// Everything that is said of one tool, or of the plugin by its id.
    fn remarks(&self, name: &str) -> Vec<String> {
        let status = self.status();
        let warnings = status.warnings.into_iter().filter(|warning| warning.name == name);
        let rejected = status.rejected.into_iter().filter(|rejected| rejected.name == name);
        warnings.map(|warning| warning.message).chain(rejected.map(|rejected| rejected.reason)).collect()
    }

    fn names(&self, context: Value) -> Vec<String> {
        let listed = self.registry.list_tools(&context_of(context));
        listed.into_iter().map(|tool| tool.model_name.to_string()).collect()
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallResult {
        self.call_in(tool, arguments, json!({"stream_id": "s"})).await
    }

    async fn call_in(&self, tool: &str, arguments: Value, context: Value) -> CallResult {
        let call = ToolCall::new("c1", tool, RawArguments::from(&arguments));
        self.registry.invoke(call, Arc::new(context_of(context))).await.unwrap()
    }

    /// The JSON that a tool returned.
    async fn value(&self, tool: &str, arguments: Value, context: Value) -> Value {
        let result = self.call_in(tool, arguments, context).await;
        let structured = result.result.structured_content.as_ref();
        structured.unwrap_or_else(|| panic!("no structured content: {result:?}")).to().unwrap()
    }

    /// The text that the model gets.
    async fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.history_content()
    }
}

// === impl Bot ===

impl HostPort for Bot {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let payload: Value = request.payload.to().unwrap();
        self.asked.lock().unwrap().push((request.capability.clone(), payload));
        let answer = match request.capability.as_str() {
            "send.text" | "api.replace_dynamic" => Ok(JsonText::from(json!({"success": true}))),
            other => Err(ToolFailure::not_sent(ErrorCode::ToolUnavailable, format!("there is no `{other}`"))),
        };
        Box::pin(std::future::ready(answer))
    }
}

fn context_of(context: Value) -> ToolExecutionContext {
    serde_json::from_value(context).unwrap()
}

fn plugins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/maibot")
}

pub(crate) fn copy_of(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(plugins().join(name)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    folder
}

fn written(code: &str, changes: &Value) -> TempDir {
    let folder = copy_of("tools");
    let path = folder.path().join("_manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        manifest[key] = value.clone();
    }
    std::fs::write(&path, manifest.to_string()).unwrap();
    std::fs::write(folder.path().join("plugin.py"), code).unwrap();
    folder
}

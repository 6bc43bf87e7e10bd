//! Several plugins side by side, each of which does what a test tells it to, and neighbours that must not notice.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::Instant;
use toolyard::{
    Backoff, Breaker, CallResult, CallStatus, FunctionProvider, FunctionTool, HostPort, HostRequest, JsonText, Limits,
    ProviderSettings, ProviderState, ProviderStatus, RawArguments, ToolBatch, ToolCall, ToolFailure, ToolRegistry,
};
use toolyard_providers::{PluginHost, RunnerConfig, Spawner};
use toolyard_tests::{Environment, HANG, eventually, in_time, until};

use crate::plugin_maibot::copy_of;

/// Plugins behind one engine.
pub(crate) struct Fleet {
    pub(crate) registry: Arc<ToolRegistry>,
    pub(crate) bot: Arc<Bot>,
    host: PluginHost,
    folders: Mutex<Vec<(String, TempDir)>>,
    _spawner: Arc<Spawner>,
}

/// A bot that sends texts: `never` for ever, `later` once it is let, others at once.
#[derive(Debug, Default)]
pub(crate) struct Bot {
    /// What was asked, with the time that it had, and whether it came from a call.
    pub(crate) asked: Mutex<Vec<(String, Duration, bool)>>,
    pub(crate) is_let: watch::Sender<bool>,
}

/// What holds a call of the deeds `hold`, `stubborn` and `deaf` in its handler, until it is opened.
pub(crate) struct Gate(TempDir);

/// How a plugin is run.
pub(crate) struct Tuning {
    pub(crate) runner: RunnerConfig,
    pub(crate) settings: ProviderSettings,
}

// === impl Fleet ===

impl Fleet {
    /// With the two neighbours `good`, a plugin, and `inside`, a function.
    pub(crate) async fn start() -> Self {
        let environment = Environment::get();
        let spawner = Arc::new(Spawner::new(Some(environment.binary)).unwrap());
        let bot = Arc::new(Bot::default());
        let port = Arc::clone(&bot) as Arc<dyn HostPort>;
        let host = PluginHost::new(Arc::clone(&spawner), Arc::clone(&port)).unwrap();
        let registry = Arc::new(ToolRegistry::with_host(Limits::default(), port));
        let inside = FunctionTool::from_fn("inside", "Answers.", |_arguments| async { Ok("here".to_owned()) });
        let functions = FunctionProvider::new("functions").with_tool(inside);
        registry.register(Arc::new(functions), ProviderSettings::default()).await.unwrap();
        let fleet = Self { registry, bot, host, folders: Mutex::default(), _spawner: spawner };
        fleet.up("good", json!({}), |_tuning| {}).await;
        fleet
    }

    /// Launches the hostile plugin with this case, under the provider's and tool's name `name`.
    pub(crate) async fn launch(&self, name: &str, case: Value, tune: impl FnOnce(&mut Tuning)) -> PathBuf {
        let folder = copy_of("hostile");
        let path = folder.path().to_owned();
        set_case(&path, name, case);
        self.folders.lock().unwrap().push((name.to_owned(), folder));
        let python = Environment::get().python.to_str().unwrap().to_owned();
        let mut settings = ProviderSettings::default();
        settings.start_timeout = HANG;
        // No call ends by its deadline but where a test sets one.
        settings.tool_timeout = Some(20 * HANG);
        settings.backoff = Backoff { first: Duration::from_millis(100), max: Duration::from_secs(2) };
        settings.breaker = Some(Breaker::OFF);
        let mut tuning = Tuning { runner: RunnerConfig { python, watch: false, ..RunnerConfig::default() }, settings };
        tune(&mut tuning);
        let config = serde_json::from_value(json!({"path": path})).unwrap();
        let connector = self.host.maibot(name, config, tuning.runner);
        self.registry.launch(Arc::new(connector), tuning.settings).await.unwrap();
        path
    }

    /// Launches it and waits until it is up.
    pub(crate) async fn up(&self, name: &str, case: Value, tune: impl FnOnce(&mut Tuning)) -> PathBuf {
        let path = self.launch(name, case, tune).await;
        self.registry.wait_started(HANG).await;
        assert_eq!(self.status(name).state, ProviderState::Up, "{:?}", self.status(name));
        path
    }

    pub(crate) fn status(&self, name: &str) -> ProviderStatus {
        self.registry.providers().into_iter().find(|provider| &*provider.name == name).unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, deed: &str, value: Value) -> CallResult {
        self.batch(tool, deed, value, None).await
    }

    /// A call whose batch has a deadline.
    pub(crate) async fn call_for(&self, tool: &str, deed: &str, value: Value, limit: Duration) -> CallResult {
        self.batch(tool, deed, value, Some(limit)).await
    }

    async fn batch(&self, tool: &str, deed: &str, value: Value, limit: Option<Duration>) -> CallResult {
        let mut outcome = in_time(deed, self.registry.dispatch(batch(tool, deed, value, limit))).await;
        outcome.results.remove(0)
    }

    /// What a deed gave.
    pub(crate) async fn value(&self, tool: &str, deed: &str, value: Value) -> Value {
        given(&self.call(tool, deed, value).await)
    }

    pub(crate) async fn pid(&self, tool: &str) -> i32 {
        self.value(tool, "pid", json!(null)).await.as_i64().unwrap().try_into().unwrap()
    }

    /// The neighbours answer, whatever goes on beside them.
    pub(crate) async fn neighbours_answer(&self) {
        let plugin = self.value("good", "answer", json!("there"));
        let function = async {
            let call = ToolCall::new("c1", "inside", RawArguments::text("{}"));
            in_time("a function", self.registry.dispatch(ToolBatch::new(vec![call])))
                .await
                .results
                .remove(0)
                .history_content()
        };
        let (plugin, function) = tokio::join!(plugin, function);
        assert_eq!((plugin, &*function), (json!("there"), "here"));
        assert_eq!(self.status("good").starts, 1);
    }

    /// Waits until a plugin answers, which then has started so often.
    pub(crate) async fn answers(&self, name: &str, starts: u32) {
        until(name, async || {
            let result = self.call(name, "answer", json!(starts)).await;
            result.status == CallStatus::Ok && given(&result) == json!(starts)
        })
        .await;
        assert_eq!(self.status(name).starts, starts, "{:?}", self.status(name));
    }

    /// Waits until calls reach another process than this one.
    pub(crate) async fn answers_from_another_process(&self, name: &str, pid: i32) {
        until("another process", async || {
            let result = self.call(name, "pid", json!(null)).await;
            result.status == CallStatus::Ok && given(&result) != json!(pid)
        })
        .await;
    }

    pub(crate) async fn close(self) {
        self.registry.close(Duration::from_secs(5)).await;
    }
}

// === impl Gate ===

impl Gate {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The deed's value.
    pub(crate) fn value(&self) -> Value {
        json!(self.0.path())
    }

    /// Waits until a handler is held.
    pub(crate) async fn holds(&self) {
        until("the handler runs", async || self.0.path().join("held").exists()).await;
    }

    pub(crate) fn open(&self) {
        std::fs::write(self.0.path().join("open"), "").unwrap();
    }
}

// === impl Bot ===

impl HostPort for Bot {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let payload: Value = request.payload.to().unwrap();
        let text = payload["text"].as_str().unwrap_or_default().to_owned();
        let left = request.deadline.saturating_duration_since(Instant::now());
        self.asked.lock().unwrap().push((text.clone(), left, request.caller.is_some()));
        Box::pin(async move {
            match text.as_str() {
                "never" => std::future::pending().await,
                "later" => drop(self.is_let.subscribe().wait_for(|is_let| *is_let).await),
                _ => {}
            }
            Ok(JsonText::from(json!({"success": true})))
        })
    }
}

pub(crate) fn batch(tool: &str, deed: &str, value: Value, limit: Option<Duration>) -> ToolBatch {
    let arguments = RawArguments::from(&json!({"deed": deed, "value": value}));
    let batch = ToolBatch::new(vec![ToolCall::new("c1", tool, arguments)]);
    match limit {
        Some(limit) => batch.with_deadline(limit),
        None => batch,
    }
}

pub(crate) fn given(result: &CallResult) -> Value {
    let structured = result.result.structured_content.as_ref();
    let document: Value = structured.unwrap_or_else(|| panic!("it gave nothing: {result:?}")).to().unwrap();
    document["value"].clone()
}

pub(crate) fn set_case(folder: &Path, name: &str, mut case: Value) {
    case["name"] = json!(name);
    std::fs::write(folder.join("case.json"), case.to_string()).unwrap();
    let path = folder.join("_manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    manifest["id"] = json!(format!("toolyard.tests-{}", name.replace('_', "-")));
    std::fs::write(&path, manifest.to_string()).unwrap();
}

/// Waits until the code of a plugin in this folder runs, and gives its process.
pub(crate) async fn last_pid(folder: &Path) -> i32 {
    let read = async || std::fs::read_to_string(folder.join("pid")).unwrap_or_default().parse();
    eventually("its code runs", read).await
}

/// Whether a process runs; a zombie does not.
pub(crate) fn is_alive(pid: i32) -> bool {
    toolyard_tests::Process { pid, command_line: String::new() }.is_alive()
}

/// The processes that run in this folder, such as a plugin's and what it forks; a zombie is none.
pub(crate) fn processes_in(folder: &Path) -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let of_it = |pid: &i32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
    pids.filter(of_it).filter(|pid| is_alive(*pid)).collect()
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: i32) {
    until(&format!("the end of {pid}"), async || !is_alive(pid)).await;
}

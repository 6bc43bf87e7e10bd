//! Plugins of xbot in real processes.

mod broken;
mod ids;
mod refused;
mod turns;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolyard::{
    BatchOutcome, CallResult, CallStatus, ErrorCode, Limits, ProviderSettings, ProviderStatus, RawArguments, ToolBatch,
    ToolCall, ToolExecutionContext, ToolRegistry,
};
use toolyard_providers::{Spawner, XbotConfig, XbotConnector};
use toolyard_tests::{Environment, HANG, eventually, in_time, replace_file, until};

const PLAIN: &str = include_str!("../plugins/xbot/plain.py");
const BY_ID: &str = include_str!("../plugins/xbot/by_id.py");
/// Longer than any test: what comes in spite of it did not wait for it.
const FOR_EVER: Duration = Duration::from_secs(20 * HANG.as_secs());

/// A registry with one plugin, and the plugin's folder.
struct Host {
    registry: ToolRegistry,
    folder: TempDir,
    _spawner: Arc<Spawner>,
}

/// A folder with a plugin of this source in it.
fn plugin(source: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.py"), source).unwrap();
    let manifest = json!({
        "id": "com.example.plain", "name": "Plain", "version": "1.0.0", "runtime": "stdio",
        "executable": Environment::get().python, "args": ["main.py"], "activationEvents": ["onStart"],
        "permissions": ["tools.register"], "contributes": {"tools": [], "hooks": [{"event": "PostToolUse"}]},
        "colour": "red",
    });
    std::fs::write(folder.path().join("plugin.json"), manifest.to_string()).unwrap();
    folder
}

// === impl Host ===

impl Host {
    async fn start(source: &str) -> Self {
        Self::start_with(source, |_| ()).await
    }

    async fn start_with(source: &str, configure: impl FnOnce(&mut XbotConfig)) -> Self {
        let folder = plugin(source);
        let mut config = XbotConfig::new(folder.path());
        configure(&mut config);
        let spawner = Arc::new(Spawner::new(Some(Environment::get().binary)).unwrap());
        let registry = ToolRegistry::new(Limits::default());
        let mut settings = ProviderSettings::default();
        (settings.start_timeout, settings.close_timeout) = (HANG, HANG);
        settings.tool_timeout = Some(FOR_EVER);
        let connector = Arc::new(XbotConnector::new("plain", config, Arc::clone(&spawner)));
        registry.launch(connector, settings).await.unwrap();
        registry.wait_started(HANG).await;
        Self { registry, folder, _spawner: spawner }
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallResult {
        first(in_time(tool, self.registry.dispatch(batch(&[(tool, arguments)]))).await)
    }

    async fn pid(&self) -> String {
        let result = self.call("pid", json!({})).await;
        assert_eq!(result.status, CallStatus::Ok, "{result:#?}");
        result.history_content()
    }

    fn status(&self) -> ProviderStatus {
        self.registry.providers().into_iter().next().unwrap()
    }

    /// Waits until so many calls are in flight, and the first of them in the plugin's hands.
    async fn holds(&self, calls: usize) {
        until("the calls are in flight", async || self.status().in_flight == calls).await;
        until("the plugin runs one", async || self.folder.path().join("held").exists()).await;
    }

    /// Lets the tool `hold` go on.
    fn open(&self) {
        std::fs::write(self.folder.path().join("open"), "").unwrap();
    }

    async fn close(self) {
        in_time("the end", self.registry.close(Duration::ZERO)).await;
    }
}

fn batch(calls: &[(&str, Value)]) -> ToolBatch {
    let call = |(index, (tool, arguments)): (usize, &(&str, Value))| {
        ToolCall::new(format!("c{index}").as_str(), *tool, RawArguments::from(arguments))
    };
    ToolBatch::new(calls.iter().enumerate().map(call).collect())
}

fn first(outcome: BatchOutcome) -> CallResult {
    outcome.results.into_iter().next().unwrap()
}

fn code(result: &CallResult) -> Option<ErrorCode> {
    result.error.as_ref().map(|error| error.code)
}

fn message(result: &CallResult) -> &str {
    result.error.as_ref().map_or("", |error| &error.message)
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tools_are_listed_in_either_spelling_and_everything_else_is_reported() {
    let host = Host::start(PLAIN).await;
    let tools = host.registry.list_tools(&ToolExecutionContext::default());
    let described = |name: &str| tools.iter().find(|tool| &*tool.model_name == name).unwrap();
    let echo = &described("echo").spec;
    assert_eq!(echo.description, "[com.example.plain plugin] Says it again.");
    assert_eq!(echo.parameters_schema["required"], json!(["text"]));
    for name in ["context", "hold"] {
        assert!(described(name).spec.parameters_schema["properties"]["seconds"].is_object(), "{name}");
    }
    assert_eq!(described("half").spec.description, "[com.example.plain plugin] Says half of \u{fffd}.");
    let status = host.status();
    assert_eq!(status.rejected.iter().map(|tool| &*tool.reason).collect::<Vec<_>>(), ["it has no name"]);
    let warnings: Vec<String> = status.warnings.iter().map(|w| format!("{}: {}", w.name, w.message)).collect();
    for expected in [
        "plugin.json: unknown key `colour` is ignored",
        "plugin.json: `contributes/hooks` is not used here: only tools are",
        "activate: `hooks` are not used here: only tools are",
        "echo: unknown key `streming` is ignored",
        "half: half a character (a lone surrogate) in its declaration was replaced by U+FFFD",
    ] {
        assert!(warnings.iter().any(|warning| warning == expected), "{expected}: {warnings:#?}");
    }
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_form_of_answer_is_understood() {
    let host = Host::start(PLAIN).await;
    assert_eq!(host.call("echo", json!({"text": "你好"})).await.history_content(), "echo: 你好");
    let failed = host.call("failing", json!({})).await;
    assert_eq!((failed.status, code(&failed)), (CallStatus::ToolError, Some(ErrorCode::ToolFailed)));
    assert!(failed.history_content().contains("no such city"));
    let whole = host.call("whole", json!({})).await;
    assert_eq!((whole.status, whole.history_content().as_str()), (CallStatus::ToolError, "disk full"));
    assert_eq!(whole.result.metadata["code"], "7");
    let structured = host.call("structured", json!({})).await;
    assert_eq!(structured.history_content(), r#"{"id":653247040368672768123456789}"#);
    let half = host.call("half", json!({})).await;
    assert_eq!((half.history_content().as_str(), &half.result.metadata["k"]), ("half \u{fffd}", &json!("\u{fffd}")));
    // Prints, bytes that are no text, and messages to other hosts.
    assert_eq!(host.call("chatty", json!({})).await.history_content(), "done");
    assert_eq!(host.status().starts, 1);
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_says_who_makes_it() {
    let host = Host::start(PLAIN).await;
    let context = ToolExecutionContext {
        session_id: "feishu:c1".to_owned(),
        channel: "feishu".to_owned(),
        chat_id: "c1".to_owned(),
        user_id: "u1".to_owned(),
        tenant: "9007199254740993".to_owned(),
        ..ToolExecutionContext::default()
    };
    let batch = batch(&[("context", json!({"text": "x"}))]).with_context(Arc::new(context));
    let result = first(host.registry.dispatch(batch).await);
    let params: Value = serde_json::from_str(&result.history_content()).unwrap();
    for (key, value) in [
        ("toolName", json!("context")),
        ("input", json!("{\"text\":\"x\"}")),
        ("sessionId", json!("feishu:c1")),
        ("session_id", json!("feishu:c1")),
        ("channel", json!("feishu")),
        ("chatId", json!("c1")),
        ("userId", json!("u1")),
        ("tenantId", json!(9_007_199_254_740_993_u64)),
    ] {
        assert_eq!(params[key], value, "{key}");
    }
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_mebibytes_of_standard_error_hold_nothing_up() {
    let host = Host::start(PLAIN).await;
    assert_eq!(host.call("noisy", json!({})).await.history_content(), "heard");
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn closing_deactivates_the_plugin_and_leaves_no_process() {
    let host = Host::start(PLAIN).await;
    let pid = host.pid().await;
    let folder = host.folder.path().to_owned();
    in_time("the end", host.registry.close(Duration::ZERO)).await;
    assert!(folder.join("deactivated").exists());
    assert!(!is_alive(&pid));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_plugin_that_does_not_answer_deactivate_is_killed_after_its_grace() {
    let stubborn = |config: &mut XbotConfig| {
        config.env.insert("STUBBORN".to_owned(), "1".to_owned());
        config.deactivate_grace_ms = 200;
    };
    let host = Host::start_with(PLAIN, stubborn).await;
    let pid = host.pid().await;
    let began = tokio::time::Instant::now();
    in_time("the end", host.registry.close(Duration::ZERO)).await;
    assert!(began.elapsed() >= Duration::from_millis(200), "{:?}", began.elapsed());
    assert!(!is_alive(&pid));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reload_starts_the_plugin_afresh_and_a_failed_one_keeps_the_old() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    let main = host.folder.path().join("main.py");
    replace_file(&main, "raise SystemExit('not yet')");
    let failed = host.registry.reload("plain").await.unwrap_err().to_string();
    assert!(failed.contains("not yet"), "{failed}");
    assert_eq!(host.pid().await, before);
    replace_file(&main, &PLAIN.replace("Says it again.", "Repeats it."));
    host.registry.reload("plain").await.unwrap();
    assert_ne!(host.pid().await, before);
    let tools = host.registry.list_tools(&ToolExecutionContext::default());
    assert!(tools.iter().any(|tool| tool.spec.description.ends_with("Repeats it.")));
    until("the old process is gone", async || !is_alive(&before)).await;
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_changed_script_is_loaded_and_a_broken_manifest_changes_nothing() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    replace_file(&host.folder.path().join("main.py"), &format!("{PLAIN}\n# changed\n"));
    until("the changed script is loaded", async || host.pid().await != before).await;
    until("it is settled", async || host.status().starts == 2).await;
    let after = host.pid().await;
    replace_file(&host.folder.path().join("plugin.json"), "{");
    let reason = eventually("the broken manifest is read", async || host.status().reason.ok_or("no reason")).await;
    assert!(reason.contains("plugin.json"), "{reason}");
    assert_eq!((host.pid().await, host.status().starts), (after, 2));
    host.close().await;
}

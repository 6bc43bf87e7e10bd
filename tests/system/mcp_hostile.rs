//! An MCP server that does its worst: each effect stays with the call or the tool that it is about.

mod life;
mod lists;
mod noise;
mod replies;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::{
    BatchOutcome, Breaker, CallStatus, Limits, ProviderSettings, ProviderStatus, RawArguments, ToolBatch, ToolCall,
    ToolExecutionContext, ToolRegistry,
};
use toolyard_providers::{CommandSpec, McpConfig, McpConnector, McpHub, Spawner};
use toolyard_tests::{Environment, wait_until};

const START: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(20);

/// The server behind a registry.
struct Hostile {
    registry: ToolRegistry,
    heard: tempfile::NamedTempFile,
    _spawner: Arc<Spawner>,
}

// === impl Hostile ===

impl Hostile {
    /// Started with these options.
    async fn start(options: &[&str]) -> Self {
        let hostile = Self::launch(options, |_config| {}, |_settings| {}).await;
        hostile.registry.wait_started(START).await;
        hostile
    }

    /// Begun to be started. Its breaker is off, for it breaks all the time.
    async fn launch(
        options: &[&str],
        configure: impl FnOnce(&mut McpConfig),
        set: impl FnOnce(&mut ProviderSettings),
    ) -> Self {
        let environment = Environment::get();
        let spawner = Arc::new(Spawner::new(Some(environment.binary.clone())).unwrap());
        let heard = tempfile::NamedTempFile::new().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers/hostile_mcp.py");
        let mut args = vec![text(&script), "--heard".to_owned(), text(heard.path())];
        args.extend(options.iter().map(|option| (*option).to_owned()));
        let env = [("TOKEN".to_owned(), "s3cret-value".to_owned())].into();
        let command = CommandSpec { command: text(&environment.python), args, env, ..CommandSpec::default() };
        let mut config = McpConfig::stdio(command);
        configure(&mut config);
        let connector = McpConnector::new("hostile", config, Arc::clone(&spawner), McpHub::new());
        let mut settings = ProviderSettings::default();
        settings.start_timeout = START;
        settings.breaker = Some(Breaker::OFF);
        set(&mut settings);
        let registry = ToolRegistry::new(Limits::default());
        registry.launch(Arc::new(connector), settings).await.unwrap();
        Self { registry, heard, _spawner: spawner }
    }

    async fn run(&self, calls: Vec<ToolCall>) -> BatchOutcome {
        tokio::time::timeout(PATIENCE, self.registry.dispatch(ToolBatch::new(calls))).await.unwrap()
    }

    /// It still answers.
    async fn is_well(&self) {
        let outcome = self.run(vec![call("well", "echo", json!({"text": "well"}))]).await;
        assert_eq!(outcome.results[0].history_content(), "well", "{outcome:#?}");
    }

    fn status(&self) -> ProviderStatus {
        self.registry.providers().into_iter().next().unwrap()
    }

    fn tools(&self) -> Vec<String> {
        let tools = self.registry.list_tools(&ToolExecutionContext::default());
        tools.iter().map(|tool| tool.model_name.to_string()).collect()
    }

    /// What the server has heard of this method.
    fn heard(&self, method: &str) -> Vec<Value> {
        let heard = std::fs::read_to_string(self.heard.path()).unwrap();
        let messages = heard.lines().filter_map(|line| serde_json::from_str(line).ok());
        messages.filter(|message: &Value| message["method"] == method).collect()
    }

    async fn wait_heard(&self, method: &str, count: usize) -> Vec<Value> {
        wait_until("the server has heard it", PATIENCE, || self.heard(method).len() >= count).await;
        self.heard(method)
    }

    async fn close(self) {
        self.registry.close(Duration::from_secs(5)).await;
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, tool, RawArguments::from(&arguments))
}

fn statuses(outcome: &BatchOutcome) -> Vec<CallStatus> {
    outcome.results.iter().map(|result| result.status).collect()
}

//! Real MCP servers behind the engine.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolyard::{
    BatchOutcome, CallStatus, ErrorCode, JsonText, Limits, NameForm, ProviderSettings, ProviderState, RawArguments,
    ToolBatch, ToolCall, ToolExecutionContext, ToolRegistry,
};
use toolyard_providers::{
    McpConfig, McpConnector, McpHub, McpRefusal, McpRequest, McpTransport, Spawner, builtin_provider,
};
use toolyard_tests::{Environment, Process, children_of, everything_server, time_server, wait_until};

const START: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(10);

struct Fleet {
    registry: ToolRegistry,
    hub: McpHub,
    _spawner: Arc<Spawner>,
}

impl Fleet {
    /// Both servers and the built-in tools.
    async fn start() -> Self {
        let environment = Environment::get();
        let spawner = Arc::new(Spawner::new(Some(environment.binary.clone())).unwrap());
        let (registry, hub) = (ToolRegistry::new(Limits::default()), McpHub::new());
        let mut settings = ProviderSettings::default();
        settings.start_timeout = START;
        registry.register(Arc::new(builtin_provider()), settings.clone()).await.unwrap();
        settings.name_form = NameForm::Qualified;
        for (name, mut config) in [("time", time_server(&environment)), ("everything", everything_server(&environment))]
        {
            mark(&mut config);
            let connector = Arc::new(McpConnector::new(name, config, Arc::clone(&spawner), hub.clone()));
            registry.launch(connector, settings.clone()).await.unwrap();
        }
        registry.wait_started(START).await;
        Self { registry, hub, _spawner: spawner }
    }

    fn state_of(&self, name: &str) -> (ProviderState, u32) {
        let providers = self.registry.providers();
        let status = providers.iter().find(|provider| *provider.name == *name).unwrap();
        (status.state, status.starts)
    }
}

/// Tells the servers of these tests from those of others, which run side by side in this process.
const MARKS: [(&str, &str); 2] = [("UTC", "Etc/UTC"), ("stdio", "stdio marked")];

fn mark(config: &mut McpConfig) {
    let McpTransport::Stdio(command) = &mut config.transport else { panic!("{config:?} is no process") };
    for (plain, marked) in MARKS {
        if command.args.last().is_some_and(|last| last == plain) {
            command.args.pop();
            command.args.extend(marked.split(' ').map(str::to_owned));
        }
    }
}

/// The processes of the servers of one test whose command line has this part.
fn server_processes(before: &[Process], part: &str) -> Vec<Process> {
    let is_own = |process: &Process| MARKS.iter().any(|(_, marked)| process.command_line.contains(marked));
    let now = children_of(std::process::id()).into_iter().filter(is_own);
    now.filter(|process| !before.contains(process) && process.command_line.contains(part)).collect()
}

fn call(id: &str, name: &str, arguments: &serde_json::Value) -> ToolCall {
    ToolCall::new(id, name, RawArguments::from(arguments))
}

fn statuses(outcome: &BatchOutcome) -> Vec<CallStatus> {
    outcome.results.iter().map(|result| result.status).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_real_servers_answer_in_one_batch_and_go_when_the_registry_closes() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let before = children_of(std::process::id());
    let fleet = Fleet::start().await;
    let listed = fleet.registry.list_tools(&ToolExecutionContext::default());
    let names: Vec<&str> = listed.iter().map(|tool| &*tool.model_name).collect();
    assert!(names.contains(&"time__get_current_time") && names.contains(&"everything__get-sum"), "{names:?}");

    let batch = ToolBatch::new(vec![
        call("a", "time__get_current_time", &json!({"timezone": "Europe/Oslo"})),
        call("b", "everything__echo", &json!({"message": "你好"})),
        call(
            "c",
            "time__convert_time",
            &json!({"source_timezone": "Mars/Base", "time": "10:00", "target_timezone": "UTC"}),
        ),
        call("d", "everything__get-tiny-image", &json!({})),
        call("e", "everything__echo", &json!({"message": [7]})),
        ToolCall::new("f", "everything__get-sum", RawArguments::text(r#"{"a":123456789012345678901234567890,"b":1}"#)),
    ]);
    let outcome = fleet.registry.dispatch(batch).await;
    use CallStatus::{InvalidArguments, Ok, ToolError};
    assert_eq!(statuses(&outcome), [Ok, Ok, ToolError, Ok, InvalidArguments, Ok], "{outcome:#?}");
    assert!(outcome.results[0].history_content().contains("Europe/Oslo"));
    assert!(outcome.results[1].history_content().contains("你好"));
    assert!(outcome.results[3].result.content_items.iter().any(|item| item.image_base64().is_some()));
    assert_eq!(outcome.results[4].error.as_ref().unwrap().pointer.as_deref(), Some("/message"));
    let sum = outcome.results[5].history_content();
    assert!(sum.contains("1.2345678901234568e+29"), "the server got the digits, and its language has no more: {sum}");

    fleet.registry.close(Duration::from_secs(5)).await;
    assert_eq!(server_processes(&before, ""), [], "a server outlived its registry");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_of_both_eras_offer_what_they_have_beside_tools() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let fleet = Fleet::start().await;
    let members = fleet.hub.members();
    let names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["time", "everything"]);
    let everything = &members[1].1;
    assert!(everything.capabilities().as_str().contains("prompts"), "{}", everything.capabilities());
    let ask = |method: &str, params: JsonText| McpRequest {
        session: "".into(),
        method: method.into(),
        params,
        tenant: "".into(),
        deadline: tokio::time::Instant::now() + PATIENCE,
        host: None,
    };
    let prompts = everything.request(ask("prompts/list", JsonText::object([]))).await.unwrap();
    assert!(prompts.as_str().contains("simple-prompt"), "{prompts}");
    let name = JsonText::object([("name", JsonText::string("simple-prompt"))]);
    assert!(everything.request(ask("prompts/get", name)).await.unwrap().as_str().contains("messages"));
    let nothing = JsonText::object([("name", JsonText::string("nobody"))]);
    let refusal = everything.request(ask("prompts/get", nothing)).await.unwrap_err();
    assert!(matches!(refusal, McpRefusal::Error { .. }), "{refusal:?}");
    let discovered = members[0].1.request(ask("server/discover", JsonText::object([]))).await.unwrap();
    assert!(discovered.as_str().contains("2026-07-28"), "spoken with in its own era: {discovered}");
    fleet.registry.close(Duration::from_secs(5)).await;
    assert!(fleet.hub.members().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_killed_mid_call_fails_that_call_at_once_and_comes_back() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let before = children_of(std::process::id());
    let fleet = Fleet::start().await;
    let slow = call("slow", "everything__trigger-long-running-operation", &json!({"duration": 60, "steps": 2}));
    let wait = call("wait", "wait", &json!({"seconds": 2}));
    let time = call("time", "time__get_current_time", &json!({"timezone": "UTC"}));
    let mut handle = fleet.registry.start(ToolBatch::new(vec![slow, wait, time])).await.unwrap();
    wait_until("the call is in flight", PATIENCE, || {
        fleet.registry.providers().iter().any(|provider| *provider.name == *"everything" && provider.in_flight == 1)
    })
    .await;

    let killed = tokio::time::Instant::now();
    server_processes(&before, "server-everything").iter().for_each(Process::kill);
    let outcome = handle.wait().await.unwrap();
    assert_eq!(statuses(&outcome), [CallStatus::Unavailable, CallStatus::Ok, CallStatus::Ok], "{outcome:#?}");
    assert_eq!(outcome.results[0].error.as_ref().unwrap().code, ErrorCode::ProviderCrashed);
    assert!(outcome.results[0].duration < Duration::from_secs(60));
    assert!(killed.elapsed() < PATIENCE, "the batch waited for the dead server");

    wait_until("the server is back", START, || fleet.state_of("everything") == (ProviderState::Up, 2)).await;
    let echo = call("again", "everything__echo", &json!({"message": "back"}));
    let outcome = fleet.registry.dispatch(ToolBatch::new(vec![echo])).await;
    assert_eq!(statuses(&outcome), [CallStatus::Ok]);
    fleet.registry.close(Duration::from_secs(5)).await;
    assert_eq!(server_processes(&before, ""), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancelling_a_call_reaches_the_server_and_leaves_the_connection_up() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let fleet = Fleet::start().await;
    let slow = call("slow", "everything__trigger-long-running-operation", &json!({"duration": 60, "steps": 2}));
    let mut handle = fleet.registry.start(ToolBatch::new(vec![slow])).await.unwrap();
    wait_until("the call is in flight", PATIENCE, || {
        fleet.registry.providers().iter().any(|provider| provider.in_flight == 1)
    })
    .await;
    handle.cancel_call(&"slow".into());
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].error.as_ref().unwrap().code, ErrorCode::CancelledCall);
    let echo = call("next", "everything__echo", &json!({"message": "still here"}));
    let outcome = fleet.registry.dispatch(ToolBatch::new(vec![echo])).await;
    assert_eq!(statuses(&outcome), [CallStatus::Ok]);
    assert_eq!(fleet.state_of("everything"), (ProviderState::Up, 1));
    fleet.registry.close(Duration::from_secs(5)).await;
}

/// The tests look at this process's children, which they share.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

//! Lists with bad tools, without an end, in circles, out of date, or that never come.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::{FunctionProvider, FunctionTool, ProviderSettings, ProviderState, ToolExecutionContext, Visibility};

use super::{Hostile, PATIENCE, call};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_tool_is_left_out_alone_and_says_why() {
    let server = Hostile::start(&["--listing", "bad_tools"]).await;
    server.is_well().await;
    let status = server.status();
    let rejected: Vec<&str> = status.rejected.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(rejected, ["(no name)", "(no name)", "none", "boolean"]);
    assert!(status.rejected.iter().all(|tool| !tool.reason.is_empty()));
    let extra = server.registry.get_tool_spec("extra").unwrap();
    let native = extra.native.unwrap();
    for kept in [r#""x-unknown": {"deep": [1, 2]}"#, r#""execution": {"taskSupport": "optional"}"#, r#""x-unit": "m""#]
    {
        assert!(native.as_str().contains(kept), "{native}");
    }
    let meta = server.registry.get_tool_spec("meta").unwrap();
    assert_eq!(meta.visibility, Some(Visibility::Deferred), "a server's word makes no tool visible");
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_in_circles_ends() {
    let server = Hostile::start(&["--listing", "circle"]).await;
    server.is_well().await;
    assert_eq!(server.heard("tools/list").len(), 2);
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_without_an_end_is_cut_off() {
    let server = Hostile::start(&["--listing", "endless"]).await;
    let (tools, pages) = (server.tools().len(), server.heard("tools/list").len());
    assert!(tools > 100 && pages <= 1_000, "{tools} tools of {pages} pages");
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_a_change_has_overtaken_never_counts() {
    let server = Hostile::start(&["--listing", "race"]).await;
    let mut changes = server.registry.tools_changes();
    changes.borrow_and_update();
    let outcome = server.run(vec![call("a", "change", json!({}))]).await;
    assert_eq!(outcome.results[0].history_content(), "changed");
    tokio::time::timeout(PATIENCE, changes.changed()).await.unwrap().unwrap();
    assert_eq!(server.tools(), ["new"]);
    assert_eq!(server.heard("tools/list").len(), 3);
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_are_listed_at_once_while_a_server_hangs() {
    let server = Hostile::launch(&["--listing", "never"], |_config| {}, |_settings| {}).await;
    let tool = FunctionTool::from_fn("other", "Another.", |_arguments| async { Ok("fine".to_owned()) });
    let other = FunctionProvider::new("other").with_tool(tool);
    server.registry.register(Arc::new(other), ProviderSettings::default()).await.unwrap();
    server.wait_heard("tools/list", 1).await;
    let begun = Instant::now();
    let tools = server.registry.list_tools(&ToolExecutionContext::default());
    assert!(begun.elapsed() < Duration::from_millis(50), "{:?}", begun.elapsed());
    assert_eq!(tools.len(), 1);
    assert_eq!(server.status().state, ProviderState::Starting);
    let outcome = server.run(vec![call("a", "other", json!({}))]).await;
    assert_eq!(outcome.results[0].history_content(), "fine");
    server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_program_is_not_there_says_so() {
    let missing = |config: &mut toolyard_providers::McpConfig| {
        let toolyard_providers::McpTransport::Stdio(command) = &mut config.transport else { unreachable!() };
        command.command = "/nonexistent/server".to_owned();
        command.cwd = Some(PathBuf::from("/"));
    };
    let server = Hostile::launch(&[], missing, |_settings| {}).await;
    toolyard_tests::wait_until("it is down", PATIENCE, || server.status().state == ProviderState::Down).await;
    let reason = server.status().reason.unwrap_or_default();
    assert!(reason.contains("/nonexistent/server"), "{reason}");
    server.close().await;
}

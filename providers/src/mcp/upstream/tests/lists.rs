//! Lists of tools: pages, guards, and changes.

use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::{Remarks, ToolExecutionContext, ToolFailure, ToolRegistry};

use super::server::{Bench, FakeServer};
use crate::mcp::upstream::listing::{self, Listing};

/// Lists the tools of a server that answers each page by its cursor.
async fn list(page: impl Fn(Option<&str>) -> Value) -> Result<Listing, ToolFailure> {
    let (mut server, session) = Bench::new(json!({})).legacy(json!({"tools": {}})).await;
    let listed = Arc::clone(&session);
    let mut listing = tokio::spawn(async move { listing::list(&listed).await });
    loop {
        tokio::select! {
            listing = &mut listing => return listing.unwrap(),
            request = server.message() => {
                assert_eq!(request["method"], "tools/list", "{request}");
                server.answer(&request, &page(request["params"]["cursor"].as_str()));
            }
        }
    }
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.tools.iter().map(|tool| &*tool.name).collect()
}

#[tokio::test(start_paused = true)]
async fn pages_are_read_to_the_last_and_a_bad_tool_costs_no_other() {
    let listing = list(|cursor| match cursor {
        None => json!({"tools": [tool("a"), {"name": "bad", "inputSchema": true}], "nextCursor": ""}),
        Some("") => json!({"tools": [7, tool("b")], "nextCursor": null}),
        Some(other) => panic!("{other}"),
    });
    let listing = listing.await.unwrap();
    assert_eq!(names(&listing), ["a", "b"]);
    assert_eq!(listing.remarks.rejected.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_goes_in_circles_ends_with_what_came_before() {
    let listing = list(|cursor| match cursor {
        None => json!({"tools": [tool("a")], "nextCursor": "x"}),
        Some("x") => json!({"tools": [tool("b")], "nextCursor": "y"}),
        Some(_) => json!({"tools": [tool("c")], "nextCursor": "x"}),
    });
    let listing = listing.await.unwrap();
    assert_eq!(names(&listing), ["a", "b", "c"]);
    assert!(listing.remarks.warnings[0].message.contains("circles"));
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_cut_off() {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let listing = list(|_cursor| {
        let next = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        json!({"tools": [tool(&format!("t{next}"))], "nextCursor": next.to_string()})
    });
    let Listing { tools, remarks: Remarks { warnings, .. }, .. } = listing.await.unwrap();
    assert_eq!(tools.len(), 1_000);
    assert!(warnings[0].message.contains("no end"));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_list_is_refused() {
    let failure = list(|_| json!({"tools": "all"})).await.unwrap_err();
    assert!(failure.message.contains("no list of tools"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tools_has_none() {
    let (mut server, session) = Bench::new(json!({})).legacy(json!({"prompts": {}})).await;
    let listing = tokio::spawn(async move { listing::list(&session).await });
    let request = server.request("tools/list").await;
    server.refuse(&request, -32601);
    assert!(listing.await.unwrap().unwrap().tools.is_empty());
}

/// The tools that can be called, once the registry says that they have changed.
async fn changed(registry: &ToolRegistry) -> Vec<String> {
    registry.tools_changes().changed().await.unwrap();
    listed(registry)
}

fn listed(registry: &ToolRegistry) -> Vec<String> {
    let tools = registry.list_tools(&ToolExecutionContext::default());
    tools.iter().map(|tool| tool.model_name.to_string()).collect()
}

async fn answer_list(server: &mut FakeServer, names: &[&str]) {
    let request = server.request("tools/list").await;
    let tools: Vec<Value> = names.iter().map(|name| tool(name)).collect();
    server.answer(&request, &json!({"tools": tools}));
}

#[tokio::test(start_paused = true)]
async fn a_change_makes_an_answer_that_was_under_way_out_of_date() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    assert_eq!(listed(&registry), ["t"]);
    let mut changes = registry.tools_changes();
    let before = *changes.borrow_and_update();
    server.notify("notifications/tools/list_changed", &json!({}));
    let old = server.request("tools/list").await;
    server.notify("notifications/tools/list_changed", &json!({}));
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    server.answer(&old, &json!({"tools": [tool("old")]}));
    answer_list(&mut server, &["new"]).await;
    changes.changed().await.unwrap();
    assert_eq!(listed(&registry), ["new"]);
    assert_eq!(*changes.borrow(), before + 1, "the old answer was never current");
    server.silence().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_tool_that_is_removed_meanwhile_finishes() {
    let (mut server, registry) = Bench::ready(json!({})).await;
    let mut handle = super::server::start(&registry).await;
    let running = server.request("tools/call").await;
    let change = changed(&registry);
    tokio::pin!(change);
    assert!(futures::poll!(&mut change).is_pending());
    server.notify("notifications/tools/list_changed", &json!({}));
    answer_list(&mut server, &[]).await;
    assert!(change.await.is_empty());
    let outcome = registry.dispatch(toolyard::ToolBatch::new(vec![super::server::call("again", "{}")])).await;
    assert_eq!(outcome.results[0].error.as_ref().unwrap().code, toolyard::ErrorCode::ToolRemoved);
    server.answer(&running, &super::server::text("done"));
    assert_eq!(handle.wait().await.unwrap().results[0].history_content(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_tells_of_changes_on_a_subscription() {
    let bench = Bench::new(json!({}));
    let (mut server, session) = bench.modern(json!({"tools": {"listChanged": true}, "prompts": {}})).await;
    let registry = bench.serve(&mut server, Arc::clone(&session)).await;
    server.notify("notifications/tools/list_changed", &json!({"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}));
    let mut filter = None;
    loop {
        let request = server.message().await;
        match request["method"].as_str() {
            Some("subscriptions/listen") => filter = Some(request["params"]["notifications"].clone()),
            Some("tools/list") => break server.answer(&request, &json!({"tools": [tool("u")]})),
            _ => panic!("{request}"),
        }
    }
    if let Some(filter) = filter {
        assert_eq!(filter, json!({"toolsListChanged": true}));
    }
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    assert_eq!(listed(&registry), ["u"]);
}

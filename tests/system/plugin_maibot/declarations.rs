//! What a plugin declares, and what is listed of it.

use serde_json::json;
use toolyard::{CallStatus, Visibility};

use super::Yard;

const ID: &str = "toolyard.tests-tools";

#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_declaration_becomes_a_tool() {
    let yard = Yard::with_plugin("tools").await;
    let search = yard.registry.get_tool_spec("search").unwrap();
    assert_eq!((search.brief(), search.visibility), ("搜索互联网", Some(Visibility::Visible)));
    assert_eq!(search.timeout.unwrap().as_secs(), 9);
    let schema = &search.parameters_schema;
    assert_eq!(schema["required"], json!(["query"]));
    assert_eq!(schema["properties"]["limit"]["default"], 5);
    assert_eq!(schema["properties"]["ids"]["type"], "array", "a list without a schema of its items");
    let mapped = yard.registry.get_tool_spec("mapped").unwrap();
    assert_eq!(mapped.parameters_schema["required"], json!(["q"]));
    assert_eq!(mapped.visibility, Some(Visibility::Deferred));
    let mute = yard.registry.get_tool_spec("mute").unwrap();
    assert_eq!(mute.parameters_schema["properties"]["target"], json!({"type": "string", "description": "对象"}));
    assert_eq!(mute.metadata["legacy_action"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_declaration_costs_only_its_own_tool_and_says_why() {
    let yard = Yard::with_plugin("tools").await;
    let rejected: Vec<String> = yard.status().rejected.into_iter().map(|rejected| rejected.name).collect();
    assert_eq!(rejected, ["poison", "unsendable"]);
    assert!(yard.remarks("poison")[0].contains("timeout_ms"));
    assert!(yard.remarks("unsendable")[0].contains("`metadata.icon` is of type set"));
    assert!(!yard.registry.has_tool("poison") && yard.registry.has_tool("search"));
}

#[tokio::test(flavor = "multi_thread")]
async fn components_of_other_types_are_told_and_stop_nothing() {
    let yard = Yard::with_plugin("tools").await;
    let remarks = yard.remarks(ID);
    assert!(remarks.contains(&"components of type COMMAND are not run here: hello".to_owned()), "{remarks:?}");
    assert!(remarks.contains(&"components of type EVENT_HANDLER are not run here: listens".to_owned()), "{remarks:?}");
    assert!(!yard.registry.has_tool("add") && !yard.registry.has_tool("hello"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_for_the_chats_that_they_name() {
    let yard = Yard::with_plugin("tools").await;
    for (tool, here, elsewhere) in [
        ("group-only", json!({"is_group_chat": true}), json!({"is_group_chat": false})),
        ("chosen", json!({"session_id": "s1"}), json!({"session_id": "s2"})),
        ("on_qq", json!({"platform": "qq"}), json!({"platform": "discord"})),
    ] {
        assert!(yard.names(here.clone()).contains(&tool.to_owned()), "{tool}");
        assert!(!yard.names(elsewhere.clone()).contains(&tool.to_owned()), "{tool}");
        assert_eq!(yard.call_in(tool, json!({}), here).await.status, CallStatus::Ok, "{tool}");
        let refused = yard.call_in(tool, json!({}), elsewhere).await;
        assert_eq!(refused.status, CallStatus::Unavailable, "{tool}: {refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_and_disabled_tools_are_neither_listed_nor_called() {
    let yard = Yard::with_plugin("tools").await;
    let names = yard.names(json!({}));
    for tool in ["hidden", "off"] {
        assert!(!names.contains(&tool.to_owned()), "{tool}");
        assert_ne!(yard.call(tool, json!({})).await.status, CallStatus::Ok, "{tool}");
    }
}

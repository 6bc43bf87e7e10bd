//! LenBot's contract on visibility and on the order of the checks of a call (seed 002).

use serde_json::json;
use toolyard::ErrorCode::{ArgumentsSchema, PolicyDenied, PolicyNotLoaded, PolicySourceMessage};
use toolyard::{
    CallStatus, Executed, Policy, SceneRule, SessionKey, ToolExecutionContext, ToolNames, ToolQuery, ToolSpec,
    Visibility,
};

use super::world::{World, message, session};
use crate::fixture::code_of;

fn deferred(name: &str) -> ToolSpec {
    let mut spec = ToolSpec::new(name, "");
    spec.visibility = Some(Visibility::Deferred);
    spec
}

async fn world() -> (World, SessionKey) {
    let mut act = deferred("act").with_parameters(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    act.flags.needs_source = true;
    let search = ToolSpec::new("tool_search", "");
    (
        World::new([("core", "builtin", vec![search]), ("notes", "lenbot", vec![act, deferred("read")])]).await,
        session("t", "s"),
    )
}

fn scene() -> ToolExecutionContext {
    ToolExecutionContext { stream_id: "onebot:group:1".to_owned(), ..ToolExecutionContext::default() }
}

fn listed(world: &World, key: &SessionKey) -> Vec<String> {
    let context = scene();
    let tools = world.registry.list_tools(ToolQuery::of_session(&context, key));
    tools.iter().map(|tool| tool.model_name.to_string()).filter(|name| !matches!(&**name, "fetch" | "finish")).collect()
}

#[tokio::test(start_paused = true)]
async fn the_list_holds_what_was_found_of_what_is_allowed_and_a_lost_right_takes_it_away() {
    let (world, key) = world().await;
    assert_eq!(listed(&world, &key), ["tool_search"]);
    world.load(&key, ["notes.read", "notes.gone"], []).await;
    assert_eq!(listed(&world, &key), ["read", "tool_search"], "what is no more is not listed");
    let mut policy = Policy::default();
    policy.roles.insert("*".into(), ToolNames::new(["tool_search", "act"]));
    world.registry.set_policy(policy);
    assert_eq!(listed(&world, &key), ["tool_search"]);
    assert_eq!(code_of(&world.call("read", &scene(), Some(&key)).await), Some(PolicyDenied));
    world.registry.set_policy(Policy::default());
    assert_eq!(listed(&world, &key), ["read", "tool_search"], "and what was found is still found");
    world.registry.sessions().unload_all(&key).unwrap();
    assert_eq!(listed(&world, &key), ["tool_search"]);
}

#[tokio::test(start_paused = true)]
async fn an_undiscovered_call_changes_nothing() {
    let (world, key) = world().await;
    let before = world.registry.sessions().open(&key, None).await;
    let result = world.call("read", &scene(), Some(&key)).await;
    assert_eq!((result.status, code_of(&result)), (CallStatus::Denied, Some(PolicyNotLoaded)));
    assert!(result.history_content().contains("tool_search"), "with a hint");
    assert_eq!(world.registry.sessions().state(&key), Some(before));
}

/// Scene and pause, then discovery, then the arguments, then the source message, and only then the handler.
#[tokio::test(start_paused = true)]
async fn the_checks_of_a_call_come_in_their_order_and_the_handler_last() {
    let (world, key) = world().await;
    world.begin_turn(&key, "1", [message("m")]).await;
    let mut policy = Policy::default();
    policy.enabled_in.insert("notes".into(), vec!["onebot:group:2".into()]);
    let mut paused = SceneRule::default();
    paused.paused = true;
    policy.scenes.insert("onebot:group:1".into(), paused);
    let bad = json!({"n": "3", "source_message_id": "x"});
    let call = async |world: &World, arguments: &serde_json::Value| {
        world.call_with("act", arguments, &scene(), Some(&key)).await
    };

    world.registry.set_policy(policy.clone());
    assert!(call(&world, &bad).await.history_content().contains("paused"));
    policy.scenes.clear();
    world.registry.set_policy(policy.clone());
    assert!(call(&world, &bad).await.history_content().contains("not enabled in this chat"));
    policy.enabled_in.clear();
    world.registry.set_policy(policy);
    assert_eq!(code_of(&call(&world, &bad).await), Some(PolicyNotLoaded));
    world.load(&key, ["notes.act"], []).await;
    let wrong_type = json!({"n": "three", "source_message_id": "x"});
    assert_eq!(code_of(&call(&world, &wrong_type).await), Some(ArgumentsSchema));
    let refused = call(&world, &json!({"n": 3, "source_message_id": "x"})).await;
    assert_eq!((code_of(&refused), refused.executed), (Some(PolicySourceMessage), Executed::No));
    assert_eq!(world.probe.entered(), 0);
    assert_eq!(call(&world, &json!({"n": 3, "source_message_id": "m"})).await.status, CallStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_role_that_may_use_what_it_cannot_find_is_told_as_a_mistake() {
    let (world, _) = world().await;
    let findings = |names: &[&str]| {
        let mut policy = Policy::default();
        policy.roles.insert("guest".into(), ToolNames::new(names.iter().copied()));
        world.registry.set_policy(policy);
        world.registry.policy_findings()
    };
    let lost = findings(&["read", "notes.act"]);
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(lost[0].contains("`guest`") && lost[0].contains("`act`, `read`") && lost[0].contains("`tool_search`"));
    for names in [&["read", "tool_search"][..], &["notes.*", "core.*"], &["*"], &["tool_search"], &[]] {
        assert_eq!(findings(names), Vec::<String>::new(), "{names:?}");
    }
    let mut policy = Policy::default();
    policy.denied.push(toolyard::DenyRule::new(ToolNames::new(["raed", "note.*"])));
    policy.enabled_in.insert("nots".into(), Vec::new());
    world.registry.set_policy(policy);
    let misspelt = world.registry.policy_findings();
    assert_eq!(misspelt.len(), 3, "{misspelt:?}");
    for name in ["`raed`", "`note.*`", "`nots`"] {
        assert!(misspelt.iter().any(|finding| finding.contains(name)), "{name}");
    }
}

//! The rules of seed 003 on effects, taint, and tools for people.

use std::sync::Arc;

use serde_json::json;
use toolyard::ErrorCode::{ArgumentsSchema, PolicyApprovalRequired, PolicyDenied, PolicyNotLoaded, PolicyUserOnly};
use toolyard::{
    Actor, CallStatus, DefinitionForm, DenyRule, Effect, ErrorCode, Executed, LocalText, Locale, Policy, SessionKey,
    ToolAnnotation, ToolBatch, ToolExecutionContext, ToolNames, ToolQuery, ToolSpec,
};

use super::world::{World, session};
use crate::fixture::{call_with, code_of, failing, provider, settings};

/// A small campus: it reads, writes, pays, and reads what others wrote.
async fn campus() -> (World, SessionKey) {
    let tool = |name: &str, effect: Effect, change: fn(&mut ToolSpec)| {
        let mut spec = ToolSpec::new(name, "Use when asked.");
        spec.effect = Some(effect);
        change(&mut spec);
        spec
    };
    let tools = vec![
        tool("canteenMenu", Effect::Read, |_| ()),
        tool("addEvent", Effect::Write, |spec| {
            let count = json!({"type": "integer", "minimum": 1, "maximum": 10});
            *spec = spec.clone().with_parameters(json!({"type": "object", "properties": {"count": count}}));
        }),
        tool("pay", Effect::Money, |spec| {
            spec.titles = LocalText { zh: Some("付款".to_owned()), en: Some("Pay".to_owned()) }
        }),
        tool("post", Effect::Public, |_| ()),
        tool("forumPosts", Effect::Read, |spec| spec.flags.untrusted = true),
        tool("unlockDoor", Effect::Write, |spec| spec.flags.user_only = true),
        tool("bookRoom", Effect::Read, |spec| spec.flags.on_demand = true),
    ];
    let world = World::new([("campus", "test", tools)]).await;
    let mut policy = Policy::default();
    (policy.effects.model.write, policy.effects.model.public) = (toolyard::Decision::Allow, toolyard::Decision::Allow);
    world.registry.set_policy(policy);
    (world, session("t", "s"))
}

fn acting(actor: Actor) -> ToolExecutionContext {
    ToolExecutionContext { actor, ..ToolExecutionContext::default() }
}

async fn code(world: &World, key: &SessionKey, actor: Actor, tool: &str) -> Option<ErrorCode> {
    code_of(&world.call(tool, &acting(actor), Some(key)).await)
}

#[tokio::test(start_paused = true)]
async fn what_lasts_waits_for_the_person_once_third_parties_were_read_in_the_turn() {
    let (world, key) = campus().await;
    let model = Actor::Model;
    assert_eq!(code(&world, &key, model, "addEvent").await, None);
    let both = ToolBatch::new(["forumPosts", "addEvent"].map(|tool| call_with(tool, tool, &json!({}))).into());
    let outcome = world.registry.dispatch(both.with_session(key.clone())).await;
    assert!(outcome.results.iter().all(|result| result.status == CallStatus::Ok), "decided as of the batch's start");
    for tool in ["addEvent", "post", "pay"] {
        assert_eq!(code(&world, &key, model, tool).await, Some(PolicyApprovalRequired), "{tool}");
    }
    assert_eq!(code(&world, &key, model, "canteenMenu").await, None, "reading goes on");
    assert_eq!(code(&world, &key, Actor::User, "addEvent").await, None, "a person is not asked");
    assert_eq!(code(&world, &session("t", "other"), model, "addEvent").await, None);
    assert_eq!(
        code(&world, &session("u", "s"), model, "addEvent").await,
        None,
        "another tenant's session of that name"
    );
    world.begin_turn(&key, "next", []).await;
    assert_eq!(code(&world, &key, model, "addEvent").await, None, "a turn begins clean");
}

#[tokio::test(start_paused = true)]
async fn calling_taints_whether_or_not_the_tool_succeeds_and_being_refused_does_not() {
    let (world, key) = campus().await;
    let failing = failing("mirror").map_spec(|mut spec| {
        spec.flags.untrusted = true;
        spec
    });
    world.registry.register(provider("web", [failing]), settings(|_| ())).await.unwrap();
    let state = || world.registry.sessions().state(&key).unwrap().turn.tainted;
    let mut policy = Policy::clone(&world.registry.policy());
    policy.denied.push(DenyRule::new(ToolNames::new(["forumPosts"])));
    world.registry.set_policy(policy);
    assert_eq!(code(&world, &key, Actor::Model, "forumPosts").await, Some(PolicyDenied));
    assert!(!state(), "what was refused has brought nothing");
    assert_eq!(code(&world, &key, Actor::User, "canteenMenu").await, None);
    let batch = ToolBatch::new(vec![call_with("c", "mirror", &json!({}))]).with_session(key.clone());
    let person = batch.clone().with_context(Arc::new(acting(Actor::User)));
    assert_eq!(world.registry.dispatch(person).await.results[0].status, CallStatus::ToolError);
    assert!(!state(), "what a person reads does not reach the model");
    assert_eq!(world.registry.dispatch(batch).await.results[0].status, CallStatus::ToolError);
    assert!(state());
}

#[tokio::test(start_paused = true)]
async fn a_person_is_not_asked_and_is_checked_all_the_same() {
    let (world, key) = campus().await;
    for tool in ["addEvent", "pay", "post", "unlockDoor", "bookRoom"] {
        assert_eq!(code(&world, &key, Actor::User, tool).await, None, "{tool}");
    }
    for actor in [Actor::User, Actor::Model, Actor::Scheduler] {
        let result = world.call_with("addEvent", &json!({"count": 11}), &acting(actor), Some(&key)).await;
        assert_eq!(code_of(&result), Some(ArgumentsSchema), "{actor:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_has_nobody_to_ask_and_is_no_person() {
    let (world, key) = campus().await;
    for (tool, expected) in [
        ("canteenMenu", None),
        ("addEvent", Some(PolicyDenied)),
        ("pay", Some(PolicyDenied)),
        ("unlockDoor", Some(PolicyUserOnly)),
        ("bookRoom", None),
    ] {
        assert_eq!(code(&world, &key, Actor::Scheduler, tool).await, expected, "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_plugins_tools_on_demand_are_offered_once_it_is_loaded() {
    let (world, key) = campus().await;
    assert_eq!(code(&world, &key, Actor::Model, "bookRoom").await, Some(PolicyNotLoaded));
    world.load(&key, [], ["campus"]).await;
    assert_eq!(code(&world, &key, Actor::Model, "bookRoom").await, None);
    assert_eq!(world.unlisted("bookRoom", &acting(Actor::Model), Some(&key)), None);
    let guessed = code(&world, &key, Actor::Model, "unlockDoor").await;
    assert_eq!(guessed, Some(PolicyUserOnly), "loading a plugin gives the model no tool for people");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_shows_the_title_and_never_the_description() {
    let (world, key) = campus().await;
    for (locale, title) in [(Locale::En, "`Pay`"), (Locale::Zh, "“付款”")] {
        let context = ToolExecutionContext { locale, ..ToolExecutionContext::default() };
        let said = world.call("pay", &context, Some(&key)).await.history_content();
        assert!(said.contains(title) && !said.contains("Use when asked"), "{said}");
    }
}

/// A caller that policy denies a tool sees it in no definition, and a guessed call is a denial: it has not run, and it is no
/// failure of the tool.
#[tokio::test(start_paused = true)]
async fn a_denied_tool_is_in_no_definition_and_a_guessed_call_is_a_denial() {
    let (world, key) = campus().await;
    let mut policy = Policy::default();
    let mut rule = DenyRule::new(ToolNames::new(["canteenMenu"]));
    (rule.user, rule.reason) = (Some("bot1".into()), Some("not for bots".to_owned()));
    policy.denied.push(rule);
    world.registry.set_policy(policy);
    let bot = |user: &str| ToolExecutionContext { user_id: user.to_owned(), ..ToolExecutionContext::default() };
    let defined = |user: &str| {
        let context = bot(user);
        world
            .registry
            .get_llm_definitions(ToolQuery::of_session(&context, &key), DefinitionForm::OpenAiChat)
            .to_string()
    };
    assert!(!defined("bot1").contains("canteenMenu") && defined("bot2").contains("canteenMenu"));
    let result = world.call("canteenMenu", &bot("bot1"), Some(&key)).await;
    assert_eq!((result.status, result.executed), (CallStatus::Denied, Executed::No));
    assert!(result.history_content().contains("not for bots"));
    assert_eq!(world.call("canteenMenu", &bot("bot2"), Some(&key)).await.status, CallStatus::Ok);
}

/// What a server that is not trusted says of its tools, that they only read, lets nothing happen unasked.
#[tokio::test(start_paused = true)]
async fn a_hint_is_no_effect() {
    let mut hinted = ToolSpec::new("hinted", "");
    let annotation = ToolAnnotation { read_only_hint: Some(true), destructive_hint: Some(false), ..Default::default() };
    hinted.annotation = Some(annotation);
    let world = World::new([("mcp", "mcp", vec![hinted])]).await;
    let mut policy = Policy::default();
    policy.effects.model.undeclared = toolyard::Decision::Ask;
    world.registry.set_policy(policy);
    let result = world.call("hinted", &acting(Actor::Model), None).await;
    assert_eq!(code_of(&result), Some(PolicyApprovalRequired));
}

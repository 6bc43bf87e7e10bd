//! The gate of source messages: what a model may name as the message that asked for a call.

use std::num::NonZeroUsize;

use serde_json::{Value, json};
use toolyard::ErrorCode::{ArgumentsSchema, PolicySourceMessage};
use toolyard::{
    Actor, CallStatus, ErrorCode, Executed, Locale, Policy, ReceivedMessage, SessionKey, SourceMessages, ToolBatch,
    ToolExecutionContext, ToolSpec,
};

use super::world::{World, message, session, turn};
use crate::fixture::{call_with, code_of, ms, sleeper};

fn needing_a_source() -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
    let mut spec = ToolSpec::new("act", "Acts.").with_parameters(schema);
    spec.flags.needs_source = true;
    spec
}

fn marked(id: &str, change: fn(&mut ReceivedMessage)) -> ReceivedMessage {
    let mut marked = message(id);
    change(&mut marked);
    marked
}

async fn world() -> (World, SessionKey) {
    let world = World::new([("p", "test", vec![needing_a_source()])]).await;
    let key = session("t", "s");
    world.begin_turn(&key, "before", [message("past")]).await;
    let turn = [
        message("asked"),
        marked("own", |message| message.own = true),
        marked("bot", |message| message.from_bot = true),
        marked("gone", |message| message.recalled = true),
        marked("barred", |message| message.blacklisted = true),
        marked("media", |message| message.tool_result_media = true),
    ];
    world.begin_turn(&key, "now", turn).await;
    world.begin_turn(&session("t", "other"), "now", [message("elsewhere")]).await;
    world.begin_turn(&session("u", "s"), "now", [message("of another tenant")]).await;
    (world, key)
}

async fn ask(world: &World, key: Option<&SessionKey>, id: &str) -> Option<ErrorCode> {
    let context = ToolExecutionContext::default();
    code_of(&world.call_with("act", &json!({"source_message_id": id}), &context, key).await)
}

#[tokio::test(start_paused = true)]
async fn only_what_a_person_said_in_this_turn_and_stands_by_can_ask() {
    let (world, key) = world().await;
    assert_eq!(ask(&world, Some(&key), "asked").await, None);
    let wrong = ["own", "bot", "gone", "barred", "media", "past", "elsewhere", "of another tenant", "ann", "nothing"];
    for id in wrong {
        assert_eq!(ask(&world, Some(&key), id).await, Some(PolicySourceMessage), "{id}");
    }
    assert_eq!(ask(&world, None, "asked").await, Some(PolicySourceMessage), "without a session nothing is known");
    assert_eq!(ask(&world, Some(&session("t", "new")), "asked").await, Some(PolicySourceMessage));
    for arguments in
        [json!({}), json!({"source_message_id": ""}), json!({"source_message_id": "asked", "requester": 1})]
    {
        let result = world.call_with("act", &arguments, &ToolExecutionContext::default(), Some(&key)).await;
        assert_eq!(code_of(&result), Some(ArgumentsSchema), "{arguments}");
    }
}

#[tokio::test(start_paused = true)]
async fn by_choice_all_that_the_session_remembers_counts() {
    let (world, key) = world().await;
    let mut policy = Policy::default();
    policy.source_messages = SourceMessages::Scene;
    world.registry.set_policy(policy);
    assert_eq!(ask(&world, Some(&key), "past").await, None);
    for id in ["own", "bot", "gone", "barred", "media", "elsewhere", "of another tenant"] {
        assert_eq!(ask(&world, Some(&key), id).await, Some(PolicySourceMessage), "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn messages_can_be_added_and_taken_back_within_a_turn() {
    let (world, key) = world().await;
    assert_eq!(ask(&world, Some(&key), "late").await, Some(PolicySourceMessage));
    world.begin_turn(&key, "now", [message("late")]).await;
    assert_eq!(ask(&world, Some(&key), "late").await, None);
    assert_eq!(ask(&world, Some(&key), "asked").await, None, "what came before is still there");
    assert_eq!(world.registry.sessions().recall(&key, "late"), Ok(true));
    assert_eq!(ask(&world, Some(&key), "late").await, Some(PolicySourceMessage));
    world.begin_turn(&key, "next", []).await;
    assert_eq!(ask(&world, Some(&key), "asked").await, Some(PolicySourceMessage), "it asked in another turn");
}

#[tokio::test(start_paused = true)]
async fn the_tool_gets_the_message_and_not_the_parameter() {
    let (world, key) = world().await;
    let context = ToolExecutionContext::default();
    let arguments = json!({"n": 1, "source_message_id": "asked"});
    let result = world.call_with("act", &arguments, &context, Some(&key)).await;
    let seen: Value = serde_json::from_str(&result.history_content()).unwrap();
    assert_eq!(seen, json!({"arguments": {"n": 1}, "source": "asked"}));
    let shown = r#"{"n":1,"source_message_id":"asked"}"#;
    assert_eq!(result.arguments.unwrap().as_str(), shown, "the model is shown its call as it made it");
    let plain = world.call("fetch", &context, Some(&key)).await;
    assert_eq!(serde_json::from_str::<Value>(&plain.history_content()).unwrap()["source"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn the_parameter_is_added_in_the_tools_language_unless_its_provider_has() {
    let mut chinese = needing_a_source();
    (chinese.name, chinese.description) = ("zh".into(), "执行操作。".to_owned());
    let mut own = needing_a_source();
    own.name = "own".into();
    own.parameters_schema = toolyard::with_source_message(&own.parameters_schema, Locale::Zh).unwrap();
    let kept = own.parameters_schema.clone();
    let world = World::new([("p", "test", vec![needing_a_source(), chinese, own])]).await;
    let schema = |name: &str| world.registry.get_tool_spec(name).unwrap().parameters_schema;
    let described = |name: &str| schema(name)["properties"]["source_message_id"]["description"].to_string();
    assert_eq!(schema("act")["required"], json!(["source_message_id"]));
    assert!(described("act").contains("message") && described("zh").contains("消息"));
    assert_eq!(schema("own"), kept);
    assert!(schema("fetch").get("required").is_none());
}

#[tokio::test(start_paused = true)]
async fn everybody_who_calls_such_a_tool_names_a_message_and_is_answered_in_their_language() {
    let (world, key) = world().await;
    let of = |actor, locale| ToolExecutionContext { actor, locale, ..ToolExecutionContext::default() };
    for actor in [Actor::Model, Actor::User, Actor::Scheduler] {
        let context = of(actor, Locale::En);
        let gone = json!({"source_message_id": "gone"});
        let result = world.call_with("act", &gone, &context, Some(&key)).await;
        assert!(result.history_content().contains("`gone`") && result.history_content().contains("taken back"));
        let asked = json!({"source_message_id": "asked"});
        assert_eq!(world.call_with("act", &asked, &context, Some(&key)).await.status, CallStatus::Ok);
    }
    let result =
        world.call_with("act", &json!({"source_message_id": "gone"}), &of(Actor::Model, Locale::Zh), Some(&key)).await;
    assert!(result.history_content().contains("已被撤回"), "{}", result.history_content());
}

/// The second look: a call that waits for its turn is refused when its message is taken back meanwhile.
#[tokio::test(start_paused = true)]
async fn a_message_taken_back_while_the_call_waits_asks_for_nothing() {
    let (world, key) = world().await;
    let slow = sleeper("slow", ms(100), &world.probe).map_spec(|spec| {
        let mut spec = spec.with_max_in_flight(NonZeroUsize::MIN);
        spec.flags.needs_source = true;
        spec
    });
    let provider = crate::fixture::provider("q", [slow]);
    world.registry.register(provider, crate::fixture::settings(|_| ())).await.unwrap();
    world.begin_turn(&key, "now", [message("second")]).await;
    let calls = ["asked", "second"].map(|id| call_with(id, "slow", &json!({"source_message_id": id})));
    let batch = ToolBatch::new(calls.into()).with_session(key.clone()).with_turn(turn("now"));
    let registry = world.registry.clone();
    let running = tokio::spawn(async move { registry.dispatch(batch).await });
    tokio::time::sleep(ms(50)).await;
    assert_eq!(world.registry.sessions().recall(&key, "second"), Ok(true));
    let outcome = running.await.unwrap();
    assert_eq!(outcome.results[0].status, CallStatus::Ok);
    let second = &outcome.results[1];
    assert_eq!((code_of(second), second.executed), (Some(PolicySourceMessage), Executed::No));
    assert_eq!(world.probe.order(), ["asked"]);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_judges_the_message_too() {
    let (world, key) = world().await;
    let of = |id: &str| ToolBatch::new(vec![call_with("c", "act", &json!({"source_message_id": id}))]);
    let check = |id: &str| world.registry.check(&of(id).with_session(key.clone())).remove(0);
    assert!(check("asked").runs && check("asked").arguments.unwrap().as_str() == "{}");
    assert_eq!(check("gone").error.map(|error| error.code), Some(PolicySourceMessage));
}

//! LenBot plugins in their own processes, behind the engine.

mod broken;
mod discovery;
mod fixture;

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::{
    CallStatus, ErrorCode, Executed, Policy, ReceivedMessage, SourceMessages, ToolExecutionContext, Visibility,
};
use toolyard_tests::{Environment, until};

use fixture::{Bot, SCENE, group_notes, message, received};

const SECRET: &str = "p@ss \"w\\ö' d";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tools_are_listed_as_lenbot_shows_them_to_the_model() {
    let bot = Bot::with_group_notes(json!({})).await;
    let listed = bot.registry.list_tools(&ToolExecutionContext { stream_id: SCENE.to_owned(), ..Default::default() });
    let names: Vec<&str> = listed.iter().map(|tool| &*tool.model_name).collect();
    assert!(names.contains(&"recent_count") && names.contains(&"content_lookup"), "{names:?}");
    assert!(!names.contains(&"account_read"), "its configuration rules it out: {names:?}");

    let counted = bot.registry.get_tool_spec("recent_count").unwrap();
    assert_eq!(counted.brief(), "查询本群最近几小时的消息数");
    assert_eq!(counted.description, "[插件 group_notes] 统计当前群指定时段的消息数量。完整说明。");
    assert_eq!(counted.visibility, Some(Visibility::Deferred));
    let lookup = bot.registry.get_tool_spec("content_lookup").unwrap();
    assert_eq!(lookup.parameters_schema["properties"]["request"]["discriminator"]["propertyName"], "action");
    let owner = bot.registry.get_tool_spec("owner_action").unwrap();
    assert!(owner.flags.needs_source);
    assert_eq!(owner.parameters_schema["required"], json!(["source_message_id"]));

    let providers = bot.registry.providers();
    let warnings: Vec<&str> = providers[0].warnings.iter().map(|warning| warning.message.as_str()).collect();
    for expected in ["参数模型 Loose 接受未声明的字段", "command is not run here: 笔记", "background is not run here"]
    {
        assert!(warnings.iter().any(|warning| warning.contains(expected)), "{expected}: {warnings:?}");
    }
    bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn results_are_text_or_strict_json_and_errors_carry_their_type() {
    let bot =
        Bot::with_group_notes(json!({"config": {"token": SECRET, "rooms": [{"id": 1, "key": "room-key"}]}})).await;
    for (kind, expected) in [
        ("text", "原文 {}"),
        ("dict", r#"{"a":null,"b":[true,{"c":1.5}]}"#),
        ("list", r#"[1,"二"]"#),
        ("none", "null"),
        ("number", "3"),
        ("false", "false"),
        ("large", "653247040368672768123456789"),
    ] {
        assert_eq!(bot.text("give_back", json!({"kind": kind})).await, (CallStatus::Ok, expected.to_owned()));
    }
    for (kind, place) in [("nan", "/x/0 是 nan"), ("tuple", "/ids 是 tuple"), ("keys", "键 1"), ("object", "是 object")]
    {
        let (status, text) = bot.text("give_back", json!({"kind": kind})).await;
        assert_eq!(status, CallStatus::ToolError);
        assert!(text.contains("give_back 失败：ValueError: ") && text.contains(place), "{text}");
    }
    for (how, expected) in [
        ("other", "fail 失败：LookupError: other"),
        ("exit", "fail 失败：RuntimeError: SystemExit: 3"),
        ("cancel", "fail 失败：RuntimeError: 工具取消了自己"),
    ] {
        let (status, text) = bot.text("fail", json!({"how": how})).await;
        assert_eq!(status, CallStatus::ToolError);
        assert!(text.contains(expected), "{text}");
    }

    let (_, text) = bot.text("leak", json!({"how": "value"})).await;
    let leaked: Value = serde_json::from_str(&text).unwrap();
    assert!(
        leaked["forms"].as_array().unwrap().iter().all(|form| form.as_str().unwrap().contains("[redacted]")),
        "{text}"
    );
    let (_, error) = bot.text("leak", json!({"how": "error"})).await;
    assert!(error.contains("ValueError: bad token '[redacted]'"), "{error}");
    assert_eq!(bot.text("leak", json!({"how": "room"})).await.1, "[redacted]");
    bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn arguments_are_checked_strictly_and_nothing_runs_that_does_not_fit() {
    let bot = Bot::with_group_notes(json!({})).await;
    for (tool, arguments) in [
        ("recent_count", json!({"hours": "3"})),
        ("recent_count", json!({"hours": 73})),
        ("recent_count", json!({"hours": 3, "group": "80002"})),
        ("content_lookup", json!({"request": {"action": "search"}})),
        ("content_lookup", json!({"request": {"action": "search", "query": "x", "item_id": "1"}})),
        ("content_lookup", json!({"request": {"action": "delete"}})),
        ("titled", json!({"title": 5})),
        ("who_asks", json!({})),
    ] {
        let result = bot.call(tool, arguments.clone()).await;
        assert_eq!(
            (result.status, result.executed),
            (CallStatus::InvalidArguments, Executed::No),
            "{tool} {arguments}"
        );
    }
    let (status, text) = bot.text("titled", json!({"title": "x", "schema": 2, "loose": {"level": 1}})).await;
    assert_eq!((status, text.as_str()), (CallStatus::Ok, r#"{"title":"x","schema":2,"loose":{"level":1}}"#));
    bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_bot_backend_answers_what_a_plugin_asks_for() {
    let bot = Bot::with_group_notes(json!({"scenes": [SCENE]})).await;
    let (_, counted) = bot.text("recent_count", json!({"hours": 2})).await;
    assert_eq!(counted, r#"{"label":"notes","hours":2,"count":5}"#);
    let pages = bot.backend.asked_for("lenbot.messages_between");
    let offsets: Vec<_> = pages.iter().map(|page| (page["scene"].clone(), page["offset"].clone())).collect();
    assert_eq!(offsets, [(json!(SCENE), json!(0)), (json!(SCENE), json!(2)), (json!(SCENE), json!(4))]);

    let (_, sent) = bot.text("say", json!({"text": "你好"})).await;
    assert_eq!(sent, r#"{"status":"sent","report":"已发送","message_ids":["901","902"]}"#);
    let (_, odd) = bot.text("say", json!({"text": "odd"})).await;
    assert!(odd.contains(r#""status":"unconfirmed""#), "an unclear answer is no delivery: {odd}");
    let (_, empty) = bot.text("say", json!({"text": " "})).await;
    assert!(empty.contains("ValueError: 发送内容不能为空"), "{empty}");

    let (_, started) = bot.text("card", json!({})).await;
    assert_eq!(started, r#"{"status":"started","delivery":"plugin"}"#);
    let was_sent = || bot.backend.asked_for("lenbot.send").iter().any(|asked| asked["parts"][0]["text"] == "写好了");
    until("the card is sent", async || was_sent()).await;
    bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_source_message_is_a_real_request_of_this_turn() {
    let config = json!({"blacklist": ["onebot:70009"], "other_bots": ["onebot:80000"], "bot_id": "onebot:90001"});
    let bot = Bot::with_group_notes(config).await;
    let changed = |id: &str, key: &str, value: Value| {
        let mut body = message(id, "onebot:70002");
        body[key] = value;
        received(body)
    };
    let at = |id: &str, change: fn(&mut ReceivedMessage)| {
        let mut marked = received(message(id, "onebot:70002"));
        change(&mut marked);
        marked
    };
    bot.begin_turn("before", vec![received(message("past", "onebot:70002"))]).await;
    let turn = vec![
        received(message("first", "onebot:70002")),
        received(message("late", "onebot:70001")),
        at("marked_own", |message| message.own = true),
        at("marked_gone", |message| message.recalled = true),
        at("marked_bot", |message| message.from_bot = true),
        at("marked_barred", |message| message.blacklisted = true),
        changed("self", "is_self", json!(true)),
        changed("gone", "recalled", json!(true)),
        changed("unsent", "send_status", json!("failed")),
        changed("elsewhere", "scene", json!("onebot:group:80002")),
        received(message("robot", "onebot:80000")),
        received(message("mine", "onebot:90001")),
        received(message("barred", "onebot:70009")),
    ];
    bot.begin_turn("now", turn).await;

    let (status, text) = bot.asked_by("who_asks", "first").await;
    assert_eq!((status, text.as_str()), (CallStatus::Ok, r#"{"id":"first","uid":"onebot:70002","text":"请做"}"#));
    let by_the_engine =
        ["past", "nothing", "onebot:70002", "stored", "marked_own", "marked_gone", "marked_bot", "marked_barred"];
    let by_the_plugins_own_settings = ["self", "gone", "unsent", "elsewhere", "robot", "mine", "barred"];
    for id in by_the_engine.into_iter().chain(by_the_plugins_own_settings) {
        let result = bot.call_for("who_asks", id).await;
        let found = (result.status, result.executed, result.error.map(|error| error.code));
        assert_eq!(found, (CallStatus::Denied, Executed::No, Some(ErrorCode::PolicySourceMessage)), "{id}");
    }
    assert!(bot.asked_by("owner_action", "first").await.1.contains("PermissionError: 此操作只接受主人的请求"));
    assert_eq!(bot.asked_by("owner_action", "late").await.1, r#"{"requester":"onebot:70001","note":""}"#);
    assert_eq!(
        bot.backend.asked_for("lenbot.message"),
        Vec::<Value>::new(),
        "the session's messages are all there are"
    );

    let mut policy = Policy::default();
    policy.source_messages = SourceMessages::Scene;
    bot.registry.set_policy(policy);
    assert_eq!(bot.asked_by("who_asks", "past").await.0, CallStatus::Ok);
    let without_session = bot.call("who_asks", json!({"source_message_id": "first"})).await;
    assert_eq!((without_session.status, without_session.executed), (CallStatus::Denied, Executed::No));
    bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn scenes_and_configuration_decide_where_a_tool_can_be_used() {
    let quiet = "onebot:group:80002";
    let config = json!({
        "scenes": [SCENE, quiet, "onebot:group:80003"], "paused_scenes": ["onebot:group:80003"], "platform": "onebot",
        "config": {"quiet_scenes": [quiet]},
    });
    let bot = Bot::with_group_notes(config).await;
    let call = async |tool: &str, group: &str| {
        let context = json!({"platform": "qq", "group_id": group});
        let result = bot.call_in(tool, json!({}), context).await;
        (result.status, result.history_content())
    };
    let (status, text) = call("inspect", "80001").await;
    let inspected: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &inspected["scene"], &inspected["message"]), (CallStatus::Ok, &json!(SCENE), &Value::Null));
    assert_eq!((&inspected["started"], &inspected["task"]), (&json!(true), &json!("group_notes:tool:inspect")));
    for (tool, group, reason) in [
        ("recent_count", "80002", "这个群不统计"),
        ("inspect", "80003", "场景 onebot:group:80003 的聊天已关闭"),
        ("inspect", "80004", "插件 group_notes 未在场景 onebot:group:80004 启用"),
        ("account_read", "80001", "账号读取未开启"),
    ] {
        let (status, text) = call(tool, group).await;
        assert!(status == CallStatus::Unavailable && text.contains(reason), "{tool} {group}: {status:?} {text}");
    }
    assert_eq!(call("inspect", "80002").await.0, CallStatus::Ok);
    bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_plugin_keeps_outlives_a_reload_and_its_stop_is_called() {
    let bot = Bot::with_group_notes(json!({})).await;
    assert_eq!(bot.text("note", json!({"text": "记住"})).await.1, "记住");
    bot.registry.reload("group_notes").await.unwrap();
    let data = bot.data_of("group_notes");
    until("the old process has stopped", async || data.join("stopped").exists()).await;
    assert_eq!(bot.text("note", json!({})).await, (CallStatus::Ok, "记住".to_owned()));
    bot.registry.close(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_call_ends_at_once_and_the_plugin_stays_up() {
    let bot = Bot::with_group_notes(json!({})).await;
    let context = ToolExecutionContext { stream_id: SCENE.to_owned(), ..Default::default() };
    let call = toolyard::ToolCall::new("slow", "pause", toolyard::RawArguments::text(r#"{"seconds":60}"#));
    let batch = toolyard::ToolBatch::new(vec![call]).with_context(std::sync::Arc::new(context));
    let mut handle = bot.registry.start(batch).await.unwrap();
    let data = bot.data_of("group_notes");
    until("the handler runs", async || data.join("pausing").exists()).await;
    handle.cancel_call(&"slow".into());
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].error.as_ref().unwrap().code, ErrorCode::CancelledCall);
    assert_eq!(bot.text("give_back", json!({"kind": "number"})).await, (CallStatus::Ok, "3".to_owned()));
    assert_eq!(bot.registry.providers()[0].starts, 1);
    bot.registry.close(Duration::from_secs(5)).await;
}

/// What an author of plugins runs, on the module that plugins import.
#[test]
fn the_tests_of_a_plugin_pass_on_the_test_helper() {
    let python = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../providers/python");
    let api = python.join("toolyard_runner/lenbot/api");
    let output = Command::new(Environment::get().python)
        .arg(group_notes().join("tests/test_group_notes.py"))
        .env("PYTHONPATH", std::env::join_paths([python, api]).unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

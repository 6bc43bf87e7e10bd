//! What a handler is given, how it is run, and what comes of what it returns.

use futures::future::join_all;
use serde_json::{Value, json};
use toolyard::{CallStatus, RawArguments, ToolBatch, ToolCall};

use super::Yard;

#[tokio::test(flavor = "multi_thread")]
async fn the_host_fills_in_what_the_model_left_empty() {
    let yard = Yard::with_plugin("tools").await;
    let context = json!({"session_id": "session", "stream_id": "s", "group_id": "g", "user_id": "u", "platform": "qq",
        "reasoning": "why", "message": {"message_id": "m1"}});
    let got = yard.value("echo", json!({"stream_id": "", "group_id": "the model's"}), context).await;
    assert_eq!(
        got["got"],
        json!({"stream_id": "s", "group_id": "the model's", "chat_id": "s", "user_id": "u", "platform": "qq",
            "reasoning": "why", "message": {"message_id": "m1"}})
    );
    let got = yard.value("echo", json!({}), json!({"session_id": "session"})).await;
    assert_eq!(got["got"], json!({"stream_id": "session", "chat_id": "session"}), "what is not known is left out");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_gets_only_what_it_takes() {
    let yard = Yard::with_plugin("tools").await;
    assert_eq!(yard.text("strict", json!({"q": "taken"})).await, "taken");
    let refused = yard.call("strict", json!({"q": "x", "more": 1})).await;
    assert!(
        refused.history_content().contains("unexpected keyword argument 'more'"),
        "the model's own is never dropped"
    );
    let context = json!({"stream_id": "s", "message": {"message_id": "m1"}});
    let own = yard.call_in("own_message", json!({}), context).await;
    assert_eq!(own.history_content(), "nothing", "the tool's own parameter is not the host's");
}

#[tokio::test(flavor = "multi_thread")]
async fn old_actions_get_what_they_always_got() {
    let yard = Yard::with_plugin("tools").await;
    let arguments = json!({"target": "bob", "stream_id": "the model's"});
    let result = yard.call_in("mute", arguments, json!({"stream_id": "s", "reasoning": "why"})).await;
    assert_eq!(
        result.history_content(),
        "target=bob stream_id=s reasoning=why action_data={'target': 'bob', 'stream_id': \"the model's\"}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn returned_values_follow_the_table() {
    let yard = Yard::with_plugin("tools").await;
    for (kind, success, text) in [
        ("text", true, "晴"),
        ("number", true, "7"),
        ("list", true, "[1, 'a', None, True]"),
        ("empty_list", true, "[]"),
        ("pair", true, "已禁言"),
        ("failed_pair", false, r#"[false,"没有权限"]"#),
        ("int_pair", true, "(1, 'a')"),
        ("message", true, "已回复"),
        ("empty_content", true, r#"{"content":"","message":"not this"}"#),
        ("none_content", true, r#"{"content":null,"message":"not this","n":1}"#),
        ("word_success", true, "done"),
        ("zero_success", false, "no"),
        ("error", false, r#"{"success":false,"error":"x"}"#),
        ("results", true, r#"{"results":[{"标题":"晴"}],"big":12345678901234567890123}"#),
        ("failed_stop", false, r#"{"success":false,"error":"e","stop_after_execution":"true"}"#),
        ("date", true, "today"),
    ] {
        let result = yard.call("reply", json!({"kind": kind})).await;
        assert_eq!((result.result.success, &*result.history_content()), (success, text), "{kind}");
    }
    let failed = yard.call("reply", json!({"kind": "failed_pair"})).await;
    assert_eq!(failed.result.error_message.as_deref(), Some("没有权限"));
    assert_eq!(failed.status, CallStatus::ToolError);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_json_cannot_hold_fail_their_call_and_say_where() {
    let yard = Yard::with_plugin("tools").await;
    for (kind, place) in [("nan", "nan at /value/n"), ("odd", "Odd has no form in JSON at /value/odd")] {
        let result = yard.call("reply", json!({"kind": kind})).await;
        assert_eq!(result.status, CallStatus::ToolError);
        assert!(result.history_content().contains(place), "{}", result.history_content());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_successful_result_may_end_the_run() {
    let yard = Yard::with_plugin("tools").await;
    let stops = async |kind: &str| {
        let call = ToolCall::new("c1", "reply", RawArguments::from(&json!({"kind": kind})));
        yard.registry.dispatch(ToolBatch::new(vec![call])).await.stop
    };
    assert!(stops("stop").await);
    assert!(!stops("failed_stop").await);
    assert!(!stops("odd_stop").await);
    let odd = yard.call("reply", json!({"kind": "odd_stop"})).await;
    assert!(odd.history_content().contains("must be a boolean, not text"), "{}", odd.history_content());
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_become_items_beside_the_text() {
    let yard = Yard::with_plugin("tools").await;
    let result = yard.call("reply", json!({"kind": "picture"})).await;
    assert_eq!(result.result.content, "画好了");
    let items: Vec<&str> = result.result.content_items.iter().filter_map(|item| item.name.as_deref()).collect();
    assert_eq!((items, result.result.content_items.len()), (vec!["a.png"], 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_handler_raises_is_its_results_error() {
    let yard = Yard::with_plugin("tools").await;
    let raised = yard.call("raises", json!({})).await;
    assert_eq!((raised.status, &*raised.history_content()), (CallStatus::ToolError, "no such city"));
    assert_eq!(raised.result.metadata["plugin_id"], "toolyard.tests-tools");
    let ended = yard.call("exits", json!({})).await;
    assert!(ended.history_content().contains("tried to end its process"));
    assert_eq!(yard.text("strict", json!({"q": "still here"})).await, "still here");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_functions_run_in_threads_side_by_side() {
    let yard = Yard::with_plugin("tools").await;
    assert_eq!(yard.text("thread", json!({})).await, "another");
    // None of them returns before all of them run.
    let all = join_all((0..8).map(|_| yard.text("meets", json!({})))).await;
    assert_eq!(all, ["met"; 8]);
}

#[tokio::test(flavor = "multi_thread")]
async fn capabilities_work_while_it_loads_and_in_its_calls() {
    let yard = Yard::with_plugin("tools").await;
    assert_eq!(yard.text("says", json!({"text": "hi"})).await, "True True");
    let asked: Vec<(String, Value)> = yard.bot.asked.lock().unwrap().clone();
    let texts: Vec<String> = asked.iter().map(|(name, payload)| format!("{name} {}", payload["text"])).collect();
    assert_eq!(texts, [r#"send.text "loaded""#, r#"send.text "hi""#]);
    let refused = yard.call("forbidden", json!({})).await;
    assert_eq!(refused.status, CallStatus::ToolError);
    assert!(refused.history_content().starts_with("[E_CAPABILITY_"), "{}", refused.history_content());
    assert_eq!(yard.text("paths", json!({})).await, "True True toolyard.tests-tools");
}

/// Names of files that are no UTF-8 come into Python as halves of characters.
#[tokio::test(flavor = "multi_thread")]
async fn halves_of_characters_break_no_frame() {
    let code = r#"
import os
from maibot_sdk import MaiBotPlugin, Tool

NAME = os.fsdecode(b"caf\xe9.txt")


class Plugin(MaiBotPlugin):
    async def on_load(self):
        self.ctx.logger.warning("file %s", NAME)

    async def on_unload(self): pass
    async def on_config_update(self, *args): pass

    @Tool("log", description="Logs " + NAME)
    async def log(self, **kwargs):
        self.ctx.logger.warning("file %s", NAME)
        return {"content": NAME, NAME: NAME}

    @Tool("fail", description="Fails.")
    async def fail(self, **kwargs):
        raise ValueError(NAME)


def create_plugin():
    return Plugin()
"#;
    let yard = Yard::with_code(code, &json!({})).await;
    assert_eq!(yard.text("log", json!({})).await, "caf\u{fffd}.txt");
    assert_eq!(yard.text("fail", json!({})).await, "caf\u{fffd}.txt");
    assert_eq!(yard.status().starts, 1);
}

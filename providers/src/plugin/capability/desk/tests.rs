use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;
use toolyard::{ErrorCode, HostRequest, ToolFailure};

use super::*;
use crate::plugin::capability::hub::{DefinitionSource, ToolDefinition};

/// A request of the plugin `demo.plugin` behind the provider `demo`, with everything allowed.
pub(in super::super) fn ask(name: &str, arguments: &str) -> Ask {
    Ask {
        plugin: "demo".into(),
        plugin_id: "demo.plugin".into(),
        incarnation: None,
        name: name.to_owned(),
        arguments: JsonText::parse(arguments).unwrap(),
        caller: None,
        deadline: Instant::now() + Duration::from_secs(30),
        allowed: None,
    }
}

/// A bot backend with one answer to everything; keeps what it was asked.
#[derive(Debug, Default)]
pub(in super::super) struct Bot {
    pub(in super::super) answer: Option<Value>,
    pub(in super::super) asked: Mutex<Vec<HostRequest>>,
}

impl HostPort for Bot {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let missing = ToolFailure::not_sent(ErrorCode::ToolUnavailable, "there is no bot");
        let answer = self.answer.as_ref().map(JsonText::from).ok_or(missing);
        self.asked.lock().unwrap().push(request);
        Box::pin(std::future::ready(answer))
    }
}

pub(in super::super) fn bot(answer: Value) -> Arc<Bot> {
    Arc::new(Bot { answer: Some(answer), ..Bot::default() })
}

pub(in super::super) fn desk(host: Arc<dyn HostPort>) -> Arc<CapabilityDesk> {
    CapabilityDesk::new(host, PluginHub::new(), CapabilityConfig::default())
}

fn allowing(names: &[&str], ask: Ask) -> Ask {
    let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Ask { allowed: Some(Arc::new(names)), ..ask }
}

#[tokio::test]
async fn what_the_manifest_does_not_list_is_denied_with_the_line_to_add() {
    let bot = bot(json!(true));
    let desk = desk(bot.clone());
    let denied = desk.answer(allowing(&["send.image"], ask("send.text", "{}"))).await.unwrap_err();
    assert_eq!(denied.code, "E_CAPABILITY_DENIED");
    let sentence =
        "plugin `demo.plugin` may not use `send.text`: add \"send.text\" to `capabilities` in its _manifest.json";
    assert_eq!(denied.message, sentence);
    assert!(bot.asked.lock().unwrap().is_empty(), "the bot was not asked");
    desk.answer(allowing(&["send.text"], ask("send.text", "{}"))).await.unwrap();
}

#[tokio::test]
async fn replacing_dynamic_apis_and_gateways_need_no_permission() {
    let desk = desk(bot(json!({"accepted": true})));
    let attached = desk.hub().attach("demo", "demo.plugin", crate::plugin::capability::hub::tests::link()).unwrap();
    desk.answer(allowing(&[], ask("api.replace_dynamic", r#"{"apis":[]}"#))).await.unwrap();
    desk.answer(allowing(&[], ask("host.route_message", "{}"))).await.unwrap();
    drop(attached);
    let gone = desk.answer(allowing(&[], ask("api.replace_dynamic", r#"{"apis":[]}"#))).await.unwrap_err();
    assert_eq!(gone.code, "E_PLUGIN_NOT_FOUND");
}

#[tokio::test]
async fn without_a_bot_what_needs_one_is_unavailable() {
    let desk = desk(Arc::new(Bot::default()));
    for name in ["send.text", "llm.generate", "statistics.local.models", "new.family", "lenbot.send"] {
        let refused = desk.answer(ask(name, "{}")).await.unwrap_err();
        assert_eq!(refused.code, "E_CAPABILITY_FAILED", "{name}");
        assert_eq!(refused.message, "unavailable: there is no bot", "{name}");
    }
}

#[tokio::test]
async fn the_bot_gets_the_arguments_as_they_are_and_its_answer_is_checked() {
    let bot = bot(json!({"success": true}));
    let desk = desk(bot.clone());
    let arguments = r#"{"chat_id":12345678901234567890123,"limit":3}"#;
    let refused = desk.answer(ask("message.get_recent", arguments)).await.unwrap_err();
    assert_eq!(refused.message, "the bot backend's answer to `message.get_recent` has no `messages`");
    let asked = bot.asked.lock().unwrap();
    assert_eq!(asked[0].payload.as_str(), arguments);
    assert_eq!((asked[0].capability.as_str(), &*asked[0].provider), ("message.get_recent", "demo"));
}

#[tokio::test]
async fn families_that_nobody_has_published_go_to_the_bot_and_back_as_they_are() {
    let desk = desk(bot(json!({"success": true, "odd": 1})));
    let answer = desk.answer(ask("weather.now", "{}")).await.unwrap();
    assert_eq!(answer.as_str(), r#"{"success":true,"odd":1}"#);
    let refused = desk.answer(ask("component.explode", "{}")).await.unwrap_err();
    assert_eq!(refused.code, "E_METHOD_NOT_ALLOWED", "Toolyard has this family itself");
}

#[tokio::test]
async fn definitions_come_as_the_model_sees_them() {
    #[derive(Debug)]
    struct One;
    impl DefinitionSource for One {
        fn definitions(&self) -> Vec<ToolDefinition> {
            let parameters = json!({"type": "object", "properties": {}});
            vec![ToolDefinition { name: "look".to_owned(), description: "Looks.".to_owned(), parameters }]
        }
    }
    let desk = desk(bot(json!(null)));
    assert_eq!(desk.answer(ask("tool.get_definitions", "{}")).await.unwrap_err().code, "E_CAPABILITY_FAILED");
    desk.hub().set_definitions(Arc::new(One));
    let answer = desk.answer(ask("tool.get_definitions", "{}")).await.unwrap();
    let tool = r#"{"name":"look","description":"Looks.","parameters":{"type":"object","properties":{}}}"#;
    assert_eq!(answer.as_str(), format!(r#"{{"success":true,"tools":[{tool}]}}"#));
}

#[tokio::test]
async fn rows_are_the_bots_where_there_is_no_folder_for_them() {
    let desk = desk(bot(json!(4)));
    let answer = desk.answer(ask("database.count", r#"{"model_name":"M"}"#)).await.unwrap();
    assert_eq!(answer.as_str(), r#"{"success":true,"count":4}"#);
}

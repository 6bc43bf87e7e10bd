use std::fs;

use serde_json::json;

use super::*;
use crate::plugin::capability::desk::CapabilityConfig;
use crate::plugin::capability::desk::tests::{Bot, ask, bot, desk};
use crate::plugin::capability::hub::PluginHub;
use crate::plugin::capability::hub::tests::{loaded, up};

fn with_file(path: PathBuf) -> Arc<CapabilityDesk> {
    let config = CapabilityConfig { bot_config: Some(path), ..CapabilityConfig::default() };
    CapabilityDesk::new(bot(json!("from the bot")), PluginHub::new(), config)
}

async fn get(desk: &CapabilityDesk, arguments: &str) -> Value {
    let answer: Value = desk.answer(ask("config.get", arguments)).await.unwrap().to().unwrap();
    assert_eq!(answer["success"], json!(true));
    answer["value"].clone()
}

#[tokio::test]
async fn values_of_the_file_are_found_under_dotted_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bot.toml");
    fs::write(&path, "[bot]\nnickname = \"麦麦\"\nborn = 2024-01-02\nalias = [\"a\", \"b\"]\n[deep.er]\nn = 3\n")
        .unwrap();
    let desk = with_file(path);
    assert_eq!(get(&desk, r#"{"key":"bot.nickname"}"#).await, json!("麦麦"));
    assert_eq!(get(&desk, r#"{"key":"bot.born"}"#).await, json!("2024-01-02"));
    assert_eq!(get(&desk, r#"{"key":"bot.alias.1"}"#).await, json!("b"));
    assert_eq!(get(&desk, r#"{"key":"deep"}"#).await, json!({"er": {"n": 3}}));
    assert_eq!(get(&desk, r#"{"key":"bot.nothing","default":[1]}"#).await, json!([1]));
    assert_eq!(get(&desk, r#"{"key":"bot.nickname.x","default":null}"#).await, json!(null));
}

#[tokio::test]
async fn a_changed_file_is_read_again_and_a_missing_one_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bot.toml");
    let desk = with_file(path.clone());
    assert_eq!(get(&desk, r#"{"key":"n","default":7}"#).await, json!(7));
    fs::write(&path, "n = 1").unwrap();
    assert_eq!(get(&desk, r#"{"key":"n"}"#).await, json!(1));
    fs::write(&path, "n = 22").unwrap();
    assert_eq!(get(&desk, r#"{"key":"n"}"#).await, json!(22));
}

#[tokio::test]
async fn a_broken_file_is_told_by_its_line_without_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bot.toml");
    fs::write(&path, "a = 1\nkey = sk-secret\n").unwrap();
    let refused = with_file(path.clone()).answer(ask("config.get", r#"{"key":"a"}"#)).await.unwrap_err();
    assert_eq!(refused.message, "the bot's configuration could not be read: it is no TOML, in line 2");
    fs::write(&path, " ".repeat(1 + (1 << 20))).unwrap();
    let refused = with_file(path).answer(ask("config.get", r#"{"key":"a"}"#)).await.unwrap_err();
    assert!(refused.message.contains("1048576 bytes"), "{}", refused.message);
}

#[tokio::test]
async fn without_a_file_the_bot_is_asked_and_then_the_default_holds() {
    let desk_of_bot = desk(bot(json!({"success": true, "value": 5})));
    assert_eq!(get(&desk_of_bot, r#"{"key":"n","default":1}"#).await, json!(5));
    let alone = desk(Arc::new(Bot::default()));
    assert_eq!(get(&alone, r#"{"key":"n","default":1}"#).await, json!(1));
    assert_eq!(get(&alone, r#"{"key":"n"}"#).await, json!(null));
}

#[tokio::test]
async fn a_plugins_configuration_is_what_its_runner_said_last() {
    let desk = desk(Arc::new(Bot::default()));
    let value = async |name: &str, arguments: &str| {
        let answer = desk.answer(ask(name, arguments)).await;
        answer.map(|answer| answer.member("value").unwrap().as_str().to_owned())
    };
    assert_eq!(value("config.get_all", "{}").await.unwrap(), "{}", "nothing is known before it is attached");
    let own = up(desk.hub(), "my.demo", &json!({"config": {"n": 1}}));
    let _other = up(desk.hub(), "org.other", &json!({"config": {"m": 2}}));
    assert_eq!(value("config.get_all", "{}").await.unwrap(), r#"{"n":1}"#);
    own.describe(&loaded("1.0.1", &json!({})), Some(JsonText::from(json!({"n": 2}))));
    assert_eq!(value("config.get_plugin", r#"{"plugin_name":null}"#).await.unwrap(), r#"{"n":2}"#);
    assert_eq!(value("config.get_plugin", r#"{"plugin_name":"org.other"}"#).await.unwrap(), r#"{"m":2}"#);
    let missing = value("config.get_plugin", r#"{"plugin_name":"org.nobody"}"#).await.unwrap_err();
    assert_eq!(missing.code, "E_PLUGIN_NOT_FOUND");
}

use super::*;
use crate::plugin::capability::desk::tests::ask;
use crate::plugin::capability::hub::Attachment;
use crate::plugin::capability::hub::tests::up;

fn api(name: &str, version: &str, public: bool) -> Value {
    let metadata = json!({"version": version, "public": public});
    json!({"name": name, "type": "API", "metadata": metadata})
}

fn hub() -> (Arc<PluginHub>, Vec<Attachment>) {
    let hub = PluginHub::new();
    let one = json!({"components": [api("draw", "9", true), api("draw", "10", true), api("look", "1", true), api("inner", "1", false)]});
    let two = json!({"components": [api("look", "1", true)]});
    let own = json!({"components": [api("mine", "1", false)]});
    let plugins = vec![up(&hub, "org.one", &one), up(&hub, "org.two", &two), up(&hub, "my.demo", &own)];
    (hub, plugins)
}

async fn answer_to(hub: &PluginHub, name: &str, arguments: &str) -> Result<String, Refusal> {
    let ask = ask(name, arguments);
    answer(hub, &ask).await.map(|answer| answer.as_str().to_owned())
}

fn names(answer: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let full_name =
        |api: &Value| format!("{}@{}", api["full_name"].as_str().unwrap(), api["version"].as_str().unwrap());
    answer["apis"].as_array().unwrap().iter().map(full_name).collect()
}

#[tokio::test]
async fn calls_reach_the_handler_of_the_highest_version_or_of_the_one_that_is_named() {
    let (hub, _plugins) = hub();
    let call = r#"{"api_name":"draw","version":"","args":{"n":12345678901234567890123}}"#;
    let answer = answer_to(&hub, "api.call", call).await.unwrap();
    let result = r#"{"api":"draw@10","arguments":{"n":12345678901234567890123}}"#;
    assert_eq!(answer, format!(r#"{{"success":true,"result":{result}}}"#));
    let answer = answer_to(&hub, "api.call", r#"{"api_name":"org.one.draw","version":"9"}"#).await.unwrap();
    assert!(answer.contains(r#""api":"draw@9","arguments":{}"#), "{answer}");
}

#[tokio::test]
async fn a_name_that_several_plugins_have_needs_the_plugins_id() {
    let (hub, _plugins) = hub();
    let refused = answer_to(&hub, "api.call", r#"{"api_name":"look"}"#).await.unwrap_err();
    assert_eq!(refused.message, "several plugins have the API `look`: call it as `org.one.look` or `org.two.look`");
    answer_to(&hub, "api.call", r#"{"api_name":"org.two.look"}"#).await.unwrap();
}

#[tokio::test]
async fn what_is_not_public_is_its_plugins_own() {
    let (hub, _plugins) = hub();
    let refused = answer_to(&hub, "api.call", r#"{"api_name":"org.one.inner"}"#).await.unwrap_err();
    assert_eq!(refused.code, "E_METHOD_NOT_ALLOWED");
    answer_to(&hub, "api.call", r#"{"api_name":"mine"}"#).await.unwrap();
    assert_eq!(answer_to(&hub, "api.get", r#"{"api_name":"inner"}"#).await.unwrap(), r#"{"success":true,"api":null}"#);
    let listed = names(&answer_to(&hub, "api.list", "{}").await.unwrap());
    assert_eq!(listed, ["my.demo.mine@1", "org.one.draw@9", "org.one.draw@10", "org.one.look@1", "org.two.look@1"]);
    let listed = names(&answer_to(&hub, "api.list", r#"{"plugin_id":"org.two"}"#).await.unwrap());
    assert_eq!(listed, ["org.two.look@1"]);
}

#[tokio::test]
async fn what_is_nowhere_is_told_from_what_is_in_another_version() {
    let (hub, _plugins) = hub();
    let refused = answer_to(&hub, "api.call", r#"{"api_name":"nothing"}"#).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.message.as_str()),
        ("E_PLUGIN_NOT_FOUND", "no plugin that is up has the API `nothing`")
    );
    let refused = answer_to(&hub, "api.call", r#"{"api_name":"draw","version":"11"}"#).await.unwrap_err();
    assert_eq!(refused.message, "no plugin that is up has the API `draw` in version 11");
    assert_eq!(
        answer_to(&hub, "api.call", r#"{"api_name":"mine","args":[1]}"#).await.unwrap_err().code,
        "E_BAD_PAYLOAD"
    );
}

#[tokio::test]
async fn dynamic_apis_come_and_go_with_their_reason() {
    let (hub, _plugins) = hub();
    let apis = json!([{"name": "late", "type": "API", "metadata": {"public": true}}]);
    let replace = json!({"apis": apis, "offline_reason": "maintenance"}).to_string();
    let answer = answer_to(&hub, "api.replace_dynamic", &replace).await.unwrap();
    assert_eq!(answer, r#"{"success":true,"count":1,"offline":0}"#);
    let answer = answer_to(&hub, "api.call", r#"{"api_name":"my.demo.late"}"#).await.unwrap();
    assert!(answer.contains(r#""api":"late@1""#), "{answer}");
    let gone = r#"{"apis":[],"offline_reason":"maintenance"}"#;
    answer_to(&hub, "api.replace_dynamic", gone).await.unwrap();
    let refused = answer_to(&hub, "api.call", r#"{"api_name":"late"}"#).await.unwrap_err();
    assert_eq!(refused.message, "the API `late` is offline: maintenance");
    answer_to(&hub, "api.replace_dynamic", &replace).await.unwrap();
    answer_to(&hub, "api.call", r#"{"api_name":"late"}"#).await.unwrap();
}

#[tokio::test]
async fn dynamic_apis_are_bounded_and_have_names() {
    let (hub, _plugins) = hub();
    let too_many: Vec<Value> = (0..=MAX_DYNAMIC).map(|n| api(&n.to_string(), "1", true)).collect();
    let refused = answer_to(&hub, "api.replace_dynamic", &json!({"apis": too_many}).to_string()).await.unwrap_err();
    assert_eq!(refused.code, "E_BAD_PAYLOAD");
    let nameless = json!({"apis": [api("a", "1", true), {"type": "API"}]}).to_string();
    let refused = answer_to(&hub, "api.replace_dynamic", &nameless).await.unwrap_err();
    assert_eq!(refused.message, "`apis[1]` is no API with a name");
}

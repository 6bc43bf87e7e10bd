use std::sync::Mutex;

use futures::future::BoxFuture;

use super::*;
use crate::plugin::capability::desk::tests::ask;
use crate::plugin::capability::hub::Attachment;
use crate::plugin::capability::hub::tests::up;

#[derive(Debug, Default)]
struct Control {
    asked: Mutex<Vec<String>>,
}

impl Control {
    fn note(&self, what: &str, provider: &str) -> BoxFuture<'_, Result<(), String>> {
        self.asked.lock().unwrap().push(format!("{what} {provider}"));
        let done = if what == "load" { Err("it is up".to_owned()) } else { Ok(()) };
        Box::pin(std::future::ready(done))
    }
}

impl PluginControl for Control {
    fn registered(&self) -> Vec<String> {
        vec!["one".to_owned(), "asleep".to_owned()]
    }

    fn load(&self, provider: String) -> BoxFuture<'_, Result<(), String>> {
        self.note("load", &provider)
    }

    fn unload(&self, provider: String) -> BoxFuture<'_, Result<(), String>> {
        self.note("unload", &provider)
    }

    fn reload(&self, provider: String) -> BoxFuture<'_, Result<(), String>> {
        self.note("reload", &provider)
    }
}

fn hub() -> (Arc<PluginHub>, Vec<Attachment>) {
    let hub = PluginHub::new();
    let action = json!({"name": "wave", "type": "TOOL", "metadata": {"legacy_component_type": "ACTION"}});
    let draw = json!({"name": "draw", "type": "TOOL", "metadata": {"description": "Draws."}});
    let one = json!({
        "components": [draw, action], "config_schema": {"fields": []},
        "manifest": {"name": "One", "author": {"name": "A"}},
    });
    let two = json!({"components": [{"name": "draw", "type": "TOOL"}]});
    let plugins = vec![up(&hub, "org.one", &one), up(&hub, "org.two", &two)];
    (hub, plugins)
}

async fn answer_to(hub: &PluginHub, name: &str, arguments: &str) -> Value {
    answer(hub, &ask(name, arguments)).await.unwrap().to().unwrap()
}

#[tokio::test]
async fn plugins_are_listed_with_their_components() {
    let (hub, _plugins) = hub();
    let all = answer_to(&hub, "component.get_all_plugins", "{}").await;
    let one = &all["plugins"]["org.one"];
    assert_eq!((&one["name"], &one["author"]["name"], &one["version"]), (&json!("One"), &json!("A"), &json!("1.0.0")));
    let draw = json!({
        "name": "draw", "full_name": "org.one.draw", "type": "TOOL", "plugin_id": "org.one", "description": "Draws.",
        "enabled": true, "metadata": {"description": "Draws."},
    });
    assert_eq!(one["components"][0], draw);
    let info = answer_to(&hub, "component.get_plugin_info", r#"{"plugin_name":"org.one"}"#).await;
    assert_eq!(info["plugin"], *one);
    let nobody = answer_to(&hub, "component.get_plugin_info", r#"{"plugin_name":"x"}"#).await;
    assert_eq!(nobody, json!({"success": true, "plugin": null}));
    let schema = answer_to(&hub, "component.get_plugin_config_schema", r#"{"plugin_name":"one"}"#).await;
    assert_eq!(schema, json!({"success": true, "schema": {"fields": []}}));
}

#[tokio::test]
async fn plugins_that_are_down_are_registered_and_not_loaded() {
    let (hub, _plugins) = hub();
    hub.set_control(Arc::new(Control::default()));
    let loaded = answer_to(&hub, "component.list_loaded_plugins", "{}").await;
    assert_eq!(loaded["plugins"], json!(["org.one", "org.two"]));
    let registered = answer_to(&hub, "component.list_registered_plugins", "{}").await;
    assert_eq!(registered["plugins"], json!(["org.one", "org.two", "asleep"]));
}

#[tokio::test]
async fn a_component_is_switched_by_its_full_name_or_its_only_name() {
    let (hub, _plugins) = hub();
    let disable = r#"{"name":"org.one.draw","component_type":"tool","scope":"global","stream_id":""}"#;
    assert_eq!(answer_to(&hub, "component.disable", disable).await, json!({"success": true}));
    assert!(!hub.is_enabled("one", "TOOL", "draw", "s"));
    assert!(hub.is_enabled("two", "TOOL", "draw", "s"), "the other plugin's is another");
    let ambiguous = answer_to(&hub, "component.disable", r#"{"name":"draw","component_type":"TOOL"}"#).await;
    assert_eq!(ambiguous["success"], json!(false));
    let action = r#"{"name":"wave","component_type":"ACTION","scope":"stream","stream_id":"s"}"#;
    assert_eq!(answer_to(&hub, "component.disable", action).await, json!({"success": true}));
    assert!(!hub.is_enabled("one", "TOOL", "wave", "s"));
    assert!(hub.is_enabled("one", "TOOL", "wave", "t"));
    assert_eq!(answer_to(&hub, "component.enable", action).await, json!({"success": true}));
    assert!(hub.is_enabled("one", "TOOL", "wave", "s"));
}

#[tokio::test]
async fn the_asking_plugins_own_component_goes_first() {
    let (hub, mut plugins) = hub();
    plugins.push(up(&hub, "my.demo", &json!({"components": [{"name": "draw", "type": "TOOL"}]})));
    answer_to(&hub, "component.disable", r#"{"name":"draw","component_type":"TOOL"}"#).await;
    assert!(!hub.is_enabled("demo", "TOOL", "draw", ""));
    assert!(hub.is_enabled("one", "TOOL", "draw", ""));
}

#[tokio::test]
async fn what_cannot_be_switched_is_a_failure_with_a_reason() {
    let (hub, _plugins) = hub();
    for arguments in [
        r#"{"name":"nothing","component_type":"TOOL"}"#,
        r#"{"name":"org.one.draw","component_type":"COMMAND"}"#,
        r#"{"name":"org.one.draw","component_type":"TOOL","scope":"galaxy"}"#,
        r#"{"name":"org.one.draw","component_type":"TOOL","scope":"stream","stream_id":""}"#,
    ] {
        let answer = answer_to(&hub, "component.disable", arguments).await;
        assert_eq!(answer["success"], json!(false), "{arguments}");
        assert!(!answer["error"].as_str().unwrap().is_empty(), "{arguments}");
    }
}

#[tokio::test]
async fn loading_and_unloading_are_left_to_the_server() {
    let (hub, _plugins) = hub();
    let reload = r#"{"plugin_name":"org.one"}"#;
    let nobody = answer_to(&hub, "component.reload_plugin", reload).await;
    assert_eq!(nobody["success"], json!(false));
    let control = Arc::new(Control::default());
    hub.set_control(control.clone());
    assert_eq!(answer_to(&hub, "component.reload_plugin", reload).await, json!({"success": true}));
    let load = answer_to(&hub, "component.load_plugin", r#"{"plugin_name":"asleep"}"#).await;
    assert_eq!(load, json!({"success": false, "error": "it is up"}));
    let unknown = answer_to(&hub, "component.unload_plugin", r#"{"plugin_name":"x"}"#).await;
    assert_eq!(unknown["success"], json!(false));
    assert_eq!(*control.asked.lock().unwrap(), ["reload one", "load asleep"]);
}

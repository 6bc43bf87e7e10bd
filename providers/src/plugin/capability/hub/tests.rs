use serde_json::json;

use super::*;
use crate::plugin::capability::desk::tests::ask;

/// Answers with what it was called with.
#[derive(Debug)]
struct EchoLink;

impl PluginLink for EchoLink {
    fn call_api(&self, call: ApiCall) -> BoxFuture<'_, Result<JsonText, Refusal>> {
        let api = JsonText::string(&format!("{}@{}", call.name, call.version));
        let answer = JsonText::object([("api", api), ("arguments", call.arguments)]);
        Box::pin(std::future::ready(Ok(answer)))
    }
}

pub(in super::super) fn link() -> Arc<dyn PluginLink> {
    Arc::new(EchoLink)
}

pub(in super::super) fn loaded(version: &str, document: &Value) -> LoadedPlugin {
    LoadedPlugin { version: version.to_owned(), document: document.clone(), ..LoadedPlugin::default() }
}

/// A described plugin whose provider is the last part of its id.
pub(in super::super) fn up(hub: &Arc<PluginHub>, id: &str, document: &Value) -> Attachment {
    let attachment = hub.attach(id.rsplit('.').next().unwrap(), id, link()).unwrap();
    attachment.describe(&loaded("1.0.0", document), document.get("config").map(JsonText::from));
    attachment
}

#[test]
fn others_see_a_plugin_once_it_is_described_and_until_it_is_detached() {
    let hub = PluginHub::new();
    let attachment = hub.attach("p", "a.p", link()).unwrap();
    assert!(hub.find("a.p").is_none());
    let document = json!({"components": [{"name": "t", "type": "tool", "metadata": {}}]});
    attachment.describe(&loaded("1.2.3", &document), None);
    let plugin = hub.find("p").unwrap();
    assert_eq!(plugin.state().version, "1.2.3");
    assert_eq!(plugin.components()[0].kind, "TOOL");
    drop(attachment);
    assert!(hub.find("p").is_none());
}

#[test]
fn an_old_incarnation_that_goes_takes_only_itself_away() {
    let hub = PluginHub::new();
    let old = up(&hub, "a.p", &json!({"config": {"n": 1}}));
    let new = up(&hub, "a.p", &json!({"config": {"n": 2}}));
    let config = || hub.find("a.p").unwrap().state().config.unwrap();
    assert_eq!(hub.up().len(), 1);
    assert_eq!(config().as_str(), r#"{"n":2}"#);
    drop(old);
    assert_eq!(config().as_str(), r#"{"n":2}"#);
    drop(new);
    assert!(hub.up().is_empty());
}

#[test]
fn a_new_incarnation_that_fails_leaves_the_old_one_as_it_was() {
    let hub = PluginHub::new();
    let _old = up(&hub, "a.demo", &json!({"config": {"n": 1}}));
    let new = hub.attach("demo", "a.demo", link()).unwrap();
    new.plugin.change(|state| state.config = Some(JsonText::parse(r#"{"n":2}"#).unwrap()));
    let asking = |incarnation| hub.asking(&Ask { incarnation, ..ask("config.get_all", "{}") }).unwrap();
    assert_eq!(asking(Some(new.incarnation())).state().config.unwrap().as_str(), r#"{"n":2}"#);
    assert_eq!(hub.find("demo").unwrap().state().config.unwrap().as_str(), r#"{"n":1}"#);
    drop(new);
    assert_eq!(asking(None).state().config.unwrap().as_str(), r#"{"n":1}"#);
}

#[test]
fn the_hub_is_bounded() {
    let hub = PluginHub::new();
    let mut attachments: Vec<_> = (0..MAX_PLUGINS).map(|n| hub.attach(&n.to_string(), "x", link()).unwrap()).collect();
    assert_eq!(hub.attach("more", "x", link()).unwrap_err(), HubFull);
    attachments.pop();
    hub.attach("more", "x", link()).unwrap();
}

#[test]
fn tools_are_components_where_a_dialect_names_only_tools() {
    let hub = PluginHub::new();
    let _plugin = up(&hub, "a.p", &json!({"tools": [{"name": "draw"}, {"title": "nameless"}]}));
    let components = hub.find("p").unwrap().components();
    assert_eq!(components.len(), 1);
    assert_eq!((components[0].name.as_str(), components[0].kind.as_str()), ("draw", "TOOL"));
}

#[test]
fn what_was_switched_in_one_chat_goes_before_what_was_switched_everywhere() {
    let hub = PluginHub::default();
    let tool = Component::read(&json!({"name": "t", "type": "TOOL", "metadata": {"enabled": false}}), "").unwrap();
    assert!(!hub.allows("p", &tool, ""), "it is declared disabled");
    assert!(hub.is_enabled("p", "TOOL", "t", "s1"), "nobody has switched it");
    hub.switch("p", &tool, "", Switch::On);
    assert!(hub.allows("p", &tool, ""));
    hub.switch("p", &tool, "s1", Switch::Off);
    assert!(!hub.is_enabled("p", "TOOL", "t", "s1"));
    assert!(hub.is_enabled("p", "TOOL", "t", "s2"));
    assert!(hub.is_enabled("p", "TOOL", "other", "s1"));
}

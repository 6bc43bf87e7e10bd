//! `component.*`: plugins and their components, listed and switched.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolyard::JsonText;

use super::ask::{Ask, Refusal};
use super::hub::{Component, PluginControl, PluginHub, PluginUp, Switch, full_name};
use super::reply::success;

#[derive(Debug, Deserialize)]
struct OfPlugin {
    plugin_name: String,
}

#[derive(Debug, Deserialize)]
struct Switching {
    name: String,
    component_type: String,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    stream_id: Option<String>,
}

pub(super) async fn answer(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    match ask.name.as_str() {
        "component.get_all_plugins" => {
            let plugins: Map<String, Value> =
                hub.up().iter().map(|plugin| (plugin.id.to_string(), info(hub, plugin))).collect();
            Ok(success("plugins", JsonText::from(Value::Object(plugins))))
        }
        "component.get_plugin_info" => {
            let OfPlugin { plugin_name } = ask.read()?;
            let plugin = hub.find(&plugin_name).map(|plugin| info(hub, &plugin));
            Ok(success("plugin", JsonText::from(plugin.unwrap_or(Value::Null))))
        }
        "component.get_plugin_config_schema" => config_schema(hub, ask),
        "component.list_loaded_plugins" => Ok(success("plugins", names(loaded(hub)))),
        "component.list_registered_plugins" => Ok(success("plugins", names(registered(hub)))),
        "component.enable" => switch(hub, ask, Switch::On),
        "component.disable" => switch(hub, ask, Switch::Off),
        _ => control(hub, ask).await,
    }
}

fn config_schema(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    let OfPlugin { plugin_name } = ask.read()?;
    let Some(plugin) = hub.find(&plugin_name) else { return Ok(failure(&format!("no plugin `{plugin_name}` is up"))) };
    let document = plugin.state().document;
    let schema = document.get("config_schema").cloned().unwrap_or_else(|| json!({}));
    Ok(success("schema", JsonText::from(schema)))
}

fn loaded(hub: &PluginHub) -> Vec<String> {
    hub.up().iter().map(|plugin| plugin.id.to_string()).collect()
}

/// The loaded plugins by their ids, and those that are down by the only name that is known of them.
fn registered(hub: &PluginHub) -> Vec<String> {
    let up = hub.up();
    let configured = hub.control().map(|control| control.registered()).unwrap_or_default();
    let down = configured.into_iter().filter(|name| !up.iter().any(|plugin| *plugin.provider == **name));
    loaded(hub).into_iter().chain(down).collect()
}

fn switch(hub: &PluginHub, ask: &Ask, switch: Switch) -> Result<JsonText, Refusal> {
    let Switching { name, component_type, scope, stream_id } = ask.read()?;
    let stream_id = match scope.as_deref() {
        None | Some("" | "global") => String::new(),
        Some("local" | "stream") => stream_id.unwrap_or_default(),
        Some(other) => return Ok(failure(&format!("scope is `global` or `stream`, not `{other}`"))),
    };
    if stream_id.is_empty() && matches!(scope.as_deref(), Some("local" | "stream")) {
        return Ok(failure("scope `stream` needs a stream_id"));
    }
    let (plugin, component) = match find(hub, ask, &name, &component_type.to_uppercase()) {
        Ok(found) => found,
        Err(why) => return Ok(failure(&why)),
    };
    if !hub.switch(&plugin.provider, &component, &stream_id, switch) {
        return Ok(failure("too many components have been switched"));
    }
    tracing::info!(
        by = &*ask.plugin,
        plugin = &*plugin.provider,
        component = component.name,
        stream_id,
        ?switch,
        "a plugin has switched a component"
    );
    Ok(JsonText::from(json!({"success": true})))
}

/// By full name, else the asking plugin's own, else the only one of that name.
fn find(hub: &PluginHub, ask: &Ask, name: &str, kind: &str) -> Result<(Arc<PluginUp>, Component), String> {
    let mut found = Vec::new();
    for plugin in hub.up() {
        for component in plugin.components() {
            let is_full = full_name(&plugin.id, &component.name) == name;
            if component.is_of(kind) && (is_full || component.name == name) {
                let rank = if is_full {
                    0
                } else if plugin.provider == ask.plugin {
                    1
                } else {
                    2
                };
                found.push((rank, Arc::clone(&plugin), component));
            }
        }
    }
    found.sort_by_key(|(rank, _, _)| *rank);
    let is_ambiguous = matches!(&*found, [(2, first, _), (2, second, _), ..] if first.provider != second.provider);
    match found.into_iter().next() {
        Some(_) if is_ambiguous => Err(format!("several plugins have `{name}`: put the plugin's id before it")),
        Some((_, plugin, component)) => Ok((plugin, component)),
        None => Err(format!("no plugin that is up has the component `{name}` of type {kind}")),
    }
}

async fn control(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    let OfPlugin { plugin_name } = ask.read()?;
    let Some(control) = hub.control() else {
        return Ok(failure("plugins are not loaded and unloaded by plugins here"));
    };
    let provider = match hub.find(&plugin_name) {
        Some(plugin) => plugin.provider.to_string(),
        None if control.registered().contains(&plugin_name) => plugin_name,
        None => return Ok(failure(&format!("there is no plugin `{plugin_name}`"))),
    };
    tracing::info!(by = &*ask.plugin, plugin = provider, asked = ask.name, "a plugin changes plugins");
    Ok(match change(&*control, &ask.name, provider).await {
        Ok(()) => JsonText::from(json!({"success": true})),
        Err(why) => failure(&why),
    })
}

async fn change(control: &dyn PluginControl, name: &str, provider: String) -> Result<(), String> {
    match name {
        "component.load_plugin" => control.load(provider).await,
        "component.unload_plugin" => control.unload(provider).await,
        _ => control.reload(provider).await,
    }
}

fn info(hub: &PluginHub, plugin: &PluginUp) -> Value {
    let state = plugin.state();
    let text = |key: &str| {
        let at = |document: &Value| document.get(key).cloned();
        at(&state.document).or_else(|| at(state.document.get("manifest")?)).unwrap_or(Value::Null)
    };
    let components: Vec<Value> =
        plugin.components().iter().map(|component| of_component(hub, plugin, component)).collect();
    json!({
        "plugin_id": &*plugin.id,
        "name": text("name").as_str().unwrap_or(&plugin.id),
        "provider": &*plugin.provider,
        "version": state.version,
        "description": text("description").as_str().unwrap_or_default(),
        "author": text("author"),
        "enabled": true,
        "loaded": true,
        "components": components,
    })
}

fn of_component(hub: &PluginHub, plugin: &PluginUp, component: &Component) -> Value {
    json!({
        "name": component.name,
        "full_name": full_name(&plugin.id, &component.name),
        "type": component.kind,
        "plugin_id": &*plugin.id,
        "description": component.description(),
        "enabled": hub.allows(&plugin.provider, component, ""),
        "metadata": component.metadata,
    })
}

fn names(names: Vec<String>) -> JsonText {
    JsonText::array(names.iter().map(|name| JsonText::string(name)))
}

/// These capabilities hand the plugin the whole document, and plugins look at `success`.
fn failure(why: &str) -> JsonText {
    JsonText::from(json!({"success": false, "error": why}))
}

#[cfg(test)]
mod tests;

//! `api.*`: what plugins offer one another.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use toolyard::JsonText;

use super::ask::{Ask, Refusal};
use super::hub::{ApiCall, Component, PluginHub, PluginUp, full_name};
use super::reply::success;

/// How many APIs a plugin may add, and how much text they may be.
const MAX_DYNAMIC: usize = 256;
const MAX_DYNAMIC_BYTES: usize = 256 * 1024;
const OFFLINE_REASON: &str = "动态 API 已下线";

#[derive(Debug, Deserialize)]
struct Name {
    api_name: String,
    #[serde(default)]
    version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct List {
    #[serde(default)]
    plugin_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Replace {
    apis: Vec<Value>,
    #[serde(default)]
    offline_reason: Option<String>,
}

/// An API and the plugin that has it.
struct Found {
    plugin: Arc<PluginUp>,
    api: Component,
}

pub(super) async fn answer(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    match ask.name.as_str() {
        "api.call" => call(hub, ask).await,
        "api.get" => {
            let found = find(hub, ask, &ask.read()?).ok();
            Ok(success("api", found.map_or_else(JsonText::null, |found| JsonText::from(found.info(hub)))))
        }
        "api.list" => list(hub, ask),
        _ => replace_dynamic(hub, ask),
    }
}

async fn call(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    let name: Name = ask.read()?;
    let arguments = ask.arguments.member("args").filter(|args| args.as_str() != "null");
    let arguments = arguments.unwrap_or_else(|| JsonText::object([]));
    if !arguments.as_str().starts_with('{') {
        return Err(Refusal::bad_payload("`args` of `api.call` is not an object"));
    }
    let Found { plugin, api } = find(hub, ask, &name)?;
    if !hub.allows(&plugin.provider, &api, "") {
        return Err(Refusal::failed(format!("the API `{}` is disabled", full_name(&plugin.id, &api.name))));
    }
    let (name, version) = (api.name.clone(), api.version().to_owned());
    let call = ApiCall { name, version, arguments, caller: ask.caller.clone(), deadline: ask.deadline };
    let result = plugin.link.call_api(call).await?;
    Ok(success("result", result))
}

fn list(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    let List { plugin_id } = ask.read()?;
    let wanted = plugin_id.filter(|id| !id.is_empty());
    let visible = apis(hub).into_iter().filter(|found| found.is_visible_to(ask));
    let listed = visible.filter(|found| wanted.as_ref().is_none_or(|id| **id == *found.plugin.id));
    Ok(success("apis", JsonText::array(listed.map(|found| JsonText::from(found.info(hub))))))
}

fn replace_dynamic(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    let Replace { apis, offline_reason } = ask.read()?;
    if apis.len() > MAX_DYNAMIC || ask.arguments.as_str().len() > MAX_DYNAMIC_BYTES {
        let message = format!("a plugin may add {MAX_DYNAMIC} APIs of {MAX_DYNAMIC_BYTES} bytes together at most");
        return Err(Refusal::bad_payload(message));
    }
    let mut components = Vec::with_capacity(apis.len());
    for (index, api) in apis.iter().enumerate() {
        match Component::read(api, "API").filter(Component::is_api) {
            Some(component) => components.push(Component { is_dynamic: true, ..component }),
            None => return Err(Refusal::bad_payload(format!("`apis[{index}]` is no API with a name"))),
        }
    }
    let plugin = hub.asking(ask);
    let plugin = plugin.ok_or_else(|| Refusal::plugin_not_found(format!("plugin `{}` is not up", ask.plugin_id)))?;
    let count = components.len();
    let reason = offline_reason.filter(|reason| !reason.is_empty());
    let offline = plugin.replace_apis(components, reason.as_deref().unwrap_or(OFFLINE_REASON));
    Ok(JsonText::from(json!({"success": true, "count": count, "offline": offline})))
}

/// The one API that is meant: by `plugin.name`, or by a name that only one plugin has; the highest version unless one
/// is named.
fn find(hub: &PluginHub, ask: &Ask, name: &Name) -> Result<Found, Refusal> {
    let wanted = name.api_name.trim();
    let version = name.version.as_deref().map(str::trim).filter(|version| !version.is_empty());
    let all = apis(hub);
    let is_full = all.iter().any(|found| full_name(&found.plugin.id, &found.api.name) == wanted);
    let named = all.into_iter().filter(|found| match is_full {
        true => full_name(&found.plugin.id, &found.api.name) == wanted,
        false => found.api.name == wanted,
    });
    let named: Vec<Found> =
        named.filter(|found| version.is_none_or(|version| found.api.version() == version)).collect();
    if named.is_empty() {
        return Err(nowhere(hub, wanted, version));
    }
    let (visible, hidden): (Vec<Found>, Vec<Found>) = named.into_iter().partition(|found| found.is_visible_to(ask));
    if visible.is_empty() {
        let owner = hidden.first().map_or("?", |found| &found.plugin.id);
        return Err(Refusal::not_allowed(format!("the API `{wanted}` of plugin `{owner}` is not public")));
    }
    one_of(wanted, visible)
}

fn one_of(wanted: &str, visible: Vec<Found>) -> Result<Found, Refusal> {
    let mut owners: Vec<&str> = visible.iter().map(|found| &*found.plugin.id).collect();
    owners.dedup();
    if owners.len() > 1 {
        let names: Vec<String> = owners.iter().map(|owner| format!("`{owner}.{wanted}`")).collect();
        let message = format!("several plugins have the API `{wanted}`: call it as {}", names.join(" or "));
        return Err(Refusal::bad_payload(message));
    }
    let newest = visible.into_iter().max_by(|a, b| compare_versions(a.api.version(), b.api.version()));
    newest.ok_or_else(|| Refusal::failed(format!("there is no API `{wanted}`")))
}

/// Why no plugin has it.
fn nowhere(hub: &PluginHub, wanted: &str, version: Option<&str>) -> Refusal {
    for plugin in hub.up() {
        for ((name, offline_version), reason) in &plugin.state().apis.offline {
            let is_it = name == wanted || full_name(&plugin.id, name) == wanted;
            if is_it && version.is_none_or(|version| version == offline_version) {
                return Refusal::failed(format!("the API `{wanted}` is offline: {reason}"));
            }
        }
    }
    let version = version.map(|version| format!(" in version {version}")).unwrap_or_default();
    Refusal::plugin_not_found(format!("no plugin that is up has the API `{wanted}`{version}"))
}

fn apis(hub: &PluginHub) -> Vec<Found> {
    let of = |plugin: Arc<PluginUp>| {
        let apis = plugin.components().into_iter().filter(Component::is_api);
        apis.map(|api| Found { plugin: Arc::clone(&plugin), api }).collect::<Vec<_>>()
    };
    hub.up().into_iter().flat_map(of).collect()
}

/// `10` after `9`, `1.10` after `1.9`.
fn compare_versions(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| version.split('.').map(|part| part.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>();
    parts(a).cmp(&parts(b)).then_with(|| a.cmp(b))
}

// === impl Found ===

impl Found {
    /// A plugin sees its own APIs and those that others make public.
    fn is_visible_to(&self, ask: &Ask) -> bool {
        self.api.is_public() || self.plugin.provider == ask.plugin
    }

    fn info(&self, hub: &PluginHub) -> Value {
        let Self { plugin, api } = self;
        json!({
            "name": api.name,
            "full_name": full_name(&plugin.id, &api.name),
            "plugin_id": &*plugin.id,
            "description": api.description(),
            "version": api.version(),
            "public": api.is_public(),
            "dynamic": api.is_dynamic,
            "enabled": hub.allows(&plugin.provider, api, ""),
            "metadata": api.metadata,
        })
    }
}

#[cfg(test)]
mod tests;

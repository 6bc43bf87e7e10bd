//! The plugins that are up, as they know of one another.

mod calls;
mod components;
mod switches;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::time::Instant;
use toolyard::{HostCaller, JsonText};

use super::ask::{Ask, Refusal};
use crate::plugin::dialect::LoadedPlugin;
use calls::PluginCalls;
pub(super) use calls::{CallLog, Count, Span, Trend};
pub(super) use components::{Component, DynamicApis, full_name};
pub(super) use switches::Switch;
use switches::Switches;

/// How many incarnations may be attached at once.
const MAX_PLUGINS: usize = 1024;

/// The registry of the plugins that are up, with what they share: APIs, components that were switched off, statistics
/// of calls. One a daemon; bounded; lives in memory.
#[derive(Debug, Default)]
pub struct PluginHub {
    plugins: RwLock<Vec<Arc<PluginUp>>>,
    next: AtomicU64,
    switches: Switches,
    pub(super) calls: CallLog,
    definitions: OnceLock<Arc<dyn DefinitionSource>>,
    control: OnceLock<Arc<dyn PluginControl>>,
}

/// Knows the tools as a model sees them.
pub trait DefinitionSource: Send + Sync + fmt::Debug + 'static {
    /// All tools that are listed to a model, sorted. Quick; must not block.
    fn definitions(&self) -> Vec<ToolDefinition>;
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// Name by which the model calls it.
    pub name: String,
    /// Its description.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// Loads, unloads and reloads plugins, by the name of their provider.
///
/// A plugin may ask for this inside one of its own calls. So an implementation starts the change and answers whether it
/// could be started; it does not wait for calls in flight.
pub trait PluginControl: Send + Sync + fmt::Debug + 'static {
    /// Names of all configured plugins, up or not.
    fn registered(&self) -> Vec<String>;

    /// Starts a plugin that is down. The error is a sentence.
    fn load(&self, provider: String) -> BoxFuture<'_, Result<(), String>>;

    /// Stops a plugin. The error is a sentence.
    fn unload(&self, provider: String) -> BoxFuture<'_, Result<(), String>>;

    /// Replaces a plugin by a fresh instance. The error is a sentence.
    fn reload(&self, provider: String) -> BoxFuture<'_, Result<(), String>>;
}

/// A way into a plugin that is up.
pub(crate) trait PluginLink: Send + Sync + fmt::Debug + 'static {
    /// Runs an API of the plugin. Dropping the future cancels it.
    fn call_api(&self, call: ApiCall) -> BoxFuture<'_, Result<JsonText, Refusal>>;
}

/// One call of an API.
#[derive(Clone, Debug)]
pub(crate) struct ApiCall {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An object of keyword arguments.
    pub(crate) arguments: JsonText,
    /// On whose behalf the calling plugin calls, where that is a call itself.
    pub(crate) caller: Option<HostCaller>,
    pub(crate) deadline: Instant,
}

/// The hub has no room for another plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {MAX_PLUGINS} plugins are up")]
pub(crate) struct HubFull;

/// One incarnation of a plugin.
#[derive(Debug)]
pub(super) struct PluginUp {
    incarnation: u64,
    pub(super) provider: Arc<str>,
    pub(super) id: Arc<str>,
    pub(super) link: Arc<dyn PluginLink>,
    state: RwLock<State>,
}

/// What an incarnation has said of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Others see the plugin only once it is described.
    pub(super) is_described: bool,
    pub(super) version: String,
    pub(super) document: Arc<Value>,
    pub(super) components: Arc<[Component]>,
    pub(super) config: Option<JsonText>,
    pub(super) apis: Arc<DynamicApis>,
}

/// Keeps a plugin in the hub; dropping it takes the plugin out.
#[derive(Debug)]
pub(crate) struct Attachment {
    hub: Arc<PluginHub>,
    plugin: Arc<PluginUp>,
    /// Its own, so that its calls wait for those of no other plugin.
    calls: Arc<PluginCalls>,
}

// === impl PluginHub ===

impl PluginHub {
    /// An empty hub.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Says where definitions of tools come from. Only the first time counts.
    pub fn set_definitions(&self, source: Arc<dyn DefinitionSource>) {
        self.definitions.set(source).ok();
    }

    /// Says who loads and unloads plugins. Only the first time counts.
    pub fn set_control(&self, control: Arc<dyn PluginControl>) {
        self.control.set(control).ok();
    }

    /// What the plugin of this provider says of itself; nothing where it is not up.
    pub fn document(&self, provider: &str) -> Option<Arc<Value>> {
        self.up().into_iter().find(|plugin| *plugin.provider == *provider).map(|plugin| plugin.state().document)
    }

    /// Adds an incarnation, before it loads: what it asks for while it loads is then already its own. Others see it
    /// once it is described. An older incarnation of the same provider stays until its own attachment is dropped.
    pub(crate) fn attach(
        self: &Arc<Self>,
        provider: &str,
        id: &str,
        link: Arc<dyn PluginLink>,
    ) -> Result<Attachment, HubFull> {
        let plugin = Arc::new(PluginUp {
            incarnation: self.next.fetch_add(1, Ordering::Relaxed),
            provider: provider.into(),
            id: id.into(),
            link,
            state: RwLock::default(),
        });
        let mut plugins = self.plugins.write().unwrap_or_else(PoisonError::into_inner);
        if plugins.len() >= MAX_PLUGINS {
            return Err(HubFull);
        }
        plugins.push(Arc::clone(&plugin));
        drop(plugins);
        Ok(Attachment { hub: Arc::clone(self), plugin, calls: self.calls.of(provider) })
    }

    pub(super) fn is_enabled(&self, provider: &str, kind: &str, name: &str, stream_id: &str) -> bool {
        self.switches.get(provider, kind, name, stream_id).unwrap_or(true)
    }

    pub(super) fn switch(&self, provider: &str, component: &Component, stream_id: &str, switch: Switch) -> bool {
        self.switches.set(provider, &component.kind, &component.name, stream_id, switch)
    }

    /// The same for a component at hand, which may also be declared disabled.
    pub(super) fn allows(&self, provider: &str, component: &Component, stream_id: &str) -> bool {
        let switched = self.switches.get(provider, &component.kind, &component.name, stream_id);
        switched.unwrap_or(component.enabled)
    }

    pub(super) fn definitions(&self) -> Option<Vec<ToolDefinition>> {
        self.definitions.get().map(|source| source.definitions())
    }

    pub(super) fn control(&self) -> Option<Arc<dyn PluginControl>> {
        self.control.get().cloned()
    }

    /// The newest described incarnation of each plugin, by id.
    pub(super) fn up(&self) -> Vec<Arc<PluginUp>> {
        let plugins = self.plugins.read().unwrap_or_else(PoisonError::into_inner);
        let described = plugins.iter().rev().filter(|plugin| plugin.state().is_described);
        let mut newest: Vec<Arc<PluginUp>> = Vec::new();
        for plugin in described {
            if !newest.iter().any(|known| known.provider == plugin.provider) {
                newest.push(Arc::clone(plugin));
            }
        }
        drop(plugins);
        newest.sort_by(|a, b| (&a.id, &a.provider).cmp(&(&b.id, &b.provider)));
        newest
    }

    /// Whether the plugin of this id is up.
    pub(crate) fn is_up(&self, id: &str) -> bool {
        self.up().iter().any(|plugin| *plugin.id == *id)
    }

    /// A plugin that is up, by its id or its provider's name.
    pub(super) fn find(&self, name: &str) -> Option<Arc<PluginUp>> {
        self.up().into_iter().find(|plugin| *plugin.id == *name || *plugin.provider == *name)
    }

    /// The incarnation that asks.
    pub(super) fn asking(&self, ask: &Ask) -> Option<Arc<PluginUp>> {
        let plugins = self.plugins.read().unwrap_or_else(PoisonError::into_inner);
        let is_asking = |plugin: &&Arc<PluginUp>| match ask.incarnation {
            Some(incarnation) => plugin.incarnation == incarnation,
            None => plugin.provider == ask.plugin,
        };
        plugins.iter().rev().find(is_asking).cloned()
    }

    fn detach(&self, incarnation: u64) {
        let mut plugins = self.plugins.write().unwrap_or_else(PoisonError::into_inner);
        plugins.retain(|plugin| plugin.incarnation != incarnation);
    }
}

// === impl PluginUp ===

impl PluginUp {
    pub(super) fn state(&self) -> State {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its components: those that it was loaded with, and the APIs that it added.
    pub(super) fn components(&self) -> Vec<Component> {
        let state = self.state();
        let declared = state.components.iter().filter(|component| !component.is_dynamic);
        declared.chain(&state.apis.apis).cloned().collect()
    }

    pub(super) fn replace_apis(&self, apis: Vec<Component>, offline_reason: &str) -> usize {
        self.change(|state| {
            let next = state.apis.replaced_by(apis, offline_reason);
            state.apis = Arc::new(next);
            state.apis.offline.len()
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }
}

// === impl Attachment ===

impl Attachment {
    /// Which incarnation it is; goes into each [`Ask`].
    pub(crate) fn incarnation(&self) -> u64 {
        self.plugin.incarnation
    }

    /// Shows the others what the plugin says of itself, now and when it changes.
    ///
    /// From its document: `components` (each `name`, `type` and `metadata`; `tools` with `name` where there are none),
    /// `config_schema`, and `name`, `description` and `author`, also inside `manifest`. The configuration is as its runner
    /// uses it; nothing where it is as before.
    pub(crate) fn describe(&self, plugin: &LoadedPlugin, config: Option<JsonText>) {
        let components: Arc<[Component]> = components::read(&plugin.document).into();
        let dynamic: Vec<Component> = components.iter().filter(|component| component.is_dynamic).cloned().collect();
        self.plugin.change(|state| {
            state.is_described = true;
            state.version.clone_from(&plugin.version);
            state.config = config.or_else(|| state.config.take());
            // What the plugin has told by itself is newer than what it was loaded with.
            if state.apis.apis.is_empty() && state.apis.offline.is_empty() {
                state.apis = Arc::new(DynamicApis { apis: dynamic, ..DynamicApis::default() });
            }
            state.components = components;
            state.document = Arc::new(plugin.document.clone());
        });
    }

    /// Takes the plugin out before the attachment is dropped.
    pub(crate) fn leave(&self) {
        self.hub.detach(self.plugin.incarnation);
    }

    /// Whether a tool of the plugin may be used in a chat, as far as plugins have switched it. Quick.
    pub(crate) fn is_enabled(&self, tool: &str, stream_id: &str) -> bool {
        self.hub.is_enabled(&self.plugin.provider, "TOOL", tool, stream_id)
    }

    /// Takes note of a finished call, for statistics.
    pub(crate) fn record_call(&self, tool: &str, ok: bool, duration: Duration) {
        self.calls.record(tool, ok, duration);
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
pub(super) mod tests;

//! Catalogue: the deferred tools that a caller may use and has not loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::block::{block, line};
use super::{LOADING_TOOL, SEARCH_TOOL};
use crate::call::Locale;
use crate::gate::{self, Caller};
use crate::registry::{Route, RoutingTable};
use crate::text;
use crate::tool::ToolSpec;

/// Characters of a summary that the catalogue shows.
const MAX_SUMMARY: usize = 1_024;
/// Where a provider says whose a tool is, in its metadata; its own name stands in where it does not.
const SOURCE: &str = "source";

/// The deferred tools that a caller may use and has not loaded: what the model is told there is to find.
///
/// The same tools give the same bytes, whatever the order of their providers, so that prompts can be cached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Catalogue {
    /// What a search finds, sorted by name.
    pub tools: Vec<CatalogueEntry>,
    /// What is loaded plugin by plugin, sorted by name.
    pub plugins: Vec<CataloguePlugin>,
    /// Under which names a model calls the tools that load others.
    #[serde(skip)]
    names: [Arc<str>; 2],
}

/// A tool that can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CatalogueEntry {
    /// The name under which a model will call it.
    pub name: Arc<str>,
    /// Whose it is.
    pub source: String,
    /// What it does, in one line.
    pub summary: String,
}

/// A plugin whose tools are loaded together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CataloguePlugin {
    /// Its provider's name.
    pub name: Arc<str>,
    /// Whether the session has loaded it.
    pub loaded: bool,
    /// Its tools, sorted by name.
    pub tools: Vec<CatalogueEntry>,
}

/// What the caller can still load.
pub(crate) fn catalogue(table: &RoutingTable, caller: &Caller<'_>) -> Catalogue {
    let is_listed = |route: &&Route| {
        let tool = &route.tool;
        gate::is_deferred(tool)
            && !tool.spec.flags.on_demand
            && !gate::is_found(tool, caller)
            && gate::may_find(tool, caller).is_ok()
    };
    let tools = table.routes.iter().filter(is_listed).map(CatalogueEntry::of).collect();
    let plugins = plugins(table, caller).into_iter().filter(|plugin| !plugin.loaded).collect();
    let name_of = |name: &str| match table.find(name) {
        Some(route) => Arc::clone(&table.routes[route].model_name),
        None => name.into(),
    };
    Catalogue { tools, plugins, names: [name_of(SEARCH_TOOL), name_of(LOADING_TOOL)] }
}

/// The plugins with tools that the caller may use and that are loaded together, sorted by name.
pub(crate) fn plugins(table: &RoutingTable, caller: &Caller<'_>) -> Vec<CataloguePlugin> {
    let mut plugins: BTreeMap<Arc<str>, CataloguePlugin> = BTreeMap::new();
    let on_demand = table.routes.iter().filter(|route| route.tool.spec.flags.on_demand);
    for route in on_demand.filter(|route| gate::may_find(&route.tool, caller).is_ok()) {
        let name = &route.tool.handle.name;
        let plugin = plugins.entry(Arc::clone(name)).or_insert_with(|| CataloguePlugin {
            name: Arc::clone(name),
            loaded: true,
            tools: Vec::new(),
        });
        plugin.loaded &= gate::is_found(&route.tool, caller);
        plugin.tools.push(CatalogueEntry::of(route));
    }
    plugins.into_values().collect()
}

fn with_summary(head: String, summary: &str) -> String {
    if summary.is_empty() { head } else { format!("{head}: {summary}") }
}

/// Whose a tool is, for people and models.
pub(super) fn source(spec: &ToolSpec) -> &str {
    let said = spec.metadata.get(SOURCE).and_then(|source| source.as_str());
    said.filter(|source| !source.trim().is_empty()).unwrap_or(&spec.provider_name)
}

// === impl Catalogue ===

impl Catalogue {
    /// Whether there is nothing to load.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.plugins.is_empty()
    }

    /// The catalogue for a prompt, as a block of text; empty where there is nothing to load.
    pub fn text(&self, locale: Locale) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut lines = Vec::new();
        if !self.tools.is_empty() {
            lines.push(text::discovery::catalogue_tools(locale, &self.names[0]));
            for (n, CatalogueEntry { name, source, summary }) in self.tools.iter().enumerate() {
                lines.push(with_summary(format!("{}. {name} [{source}]", n + 1), summary));
            }
        }
        if !self.plugins.is_empty() {
            lines.push(text::discovery::catalogue_plugins(locale, &self.names[1]));
            for plugin in &self.plugins {
                lines.push(format!("- {}", line(&plugin.name, 128)));
                let tools = plugin.tools.iter();
                lines.extend(tools.map(|tool| with_summary(format!("  - {}", tool.name), &tool.summary)));
            }
        }
        block("system-reminder", &[], &lines.join("\n"))
    }
}

// === impl CatalogueEntry ===

impl CatalogueEntry {
    pub(super) fn of(route: &Route) -> Self {
        let spec = &route.tool.spec;
        Self {
            name: Arc::clone(&route.model_name),
            source: line(source(spec), 128),
            summary: line(spec.brief(), MAX_SUMMARY),
        }
    }
}

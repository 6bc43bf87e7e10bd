//! RoutingTable: the immutable snapshot that every batch reads.
//!
//! It maps each model name to its tool, and the provider's own name too where that is no model name. A batch loads it once and works on it to its end, whatever changes meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use ahash::RandomState;

use super::nearest::folded;
use super::{BreakerState, PreparedTool};
use crate::call::Locale;
use crate::discovery::{ProviderGuide, SearchIndex};
use crate::gate::{Findable, is_deferred};
use crate::result::{CallError, ToolOrigin};
use crate::shards::Copies;
use crate::text;
use crate::tool::{ModelNames, NameForm, ToolId, model_name};

/// How many removed names are remembered, so that calls to them can be told that the tool is gone.
const MAX_REMOVED: usize = 4096;

/// Which model name leads to which tool.
#[derive(Debug, Default)]
pub(crate) struct RoutingTable {
    pub(crate) generation: u64,
    /// Sorted by model name.
    pub(crate) routes: Vec<Route>,
    by_name: HashMap<Arc<str>, usize, RandomState>,
    by_id: HashMap<ToolId, usize, RandomState>,
    removed: HashSet<Arc<str>, RandomState>,
    /// Providers that have not listed anything yet, with the prefix of their tools where they have one.
    pub(super) starting: Vec<Starting>,
    pub(crate) shadowed: Vec<Shadow>,
    /// What there is to find.
    pub(crate) findable: Findable,
    /// What providers tell the model about all of their tools.
    pub(crate) guides: Vec<ProviderGuide>,
    search: OnceLock<SearchIndex>,
}

/// One way from a model name to a tool.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) model_name: Arc<str>,
    /// The model name without what is easily mistaken, see [`folded`].
    pub(super) folded: Box<str>,
    /// The same of the name that the tool wanted.
    pub(super) wanted_folded: Box<str>,
    pub(crate) tool: Arc<PreparedTool>,
    labels: Copies<Labels>,
}

/// What every result of a tool says of it.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    pub(crate) model_name: Arc<str>,
    pub(crate) origin: Arc<ToolOrigin>,
}

/// A provider whose first listing is awaited.
#[derive(Clone, Debug)]
pub(crate) struct Starting {
    pub(crate) provider: Arc<str>,
    pub(crate) prefix: Option<String>,
    /// Why it has not come up, once an attempt has failed.
    pub(crate) reason: Option<String>,
    pub(crate) breaker: Option<Arc<BreakerState>>,
}

/// A tool that cannot be called because another has its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shadow {
    pub(crate) hidden: Arc<str>,
    pub(crate) provider: Arc<str>,
    pub(crate) tool: Arc<str>,
    pub(crate) by: Arc<str>,
}

// === impl RoutingTable ===

impl RoutingTable {
    /// Builds the table that follows `before`, from the tools of all providers in order of precedence.
    pub(crate) fn following<'a>(
        before: &Self,
        tools: impl Iterator<Item = &'a Arc<PreparedTool>>,
        starting: Vec<Starting>,
    ) -> Self {
        let (tools, shadowed) = without_reserved_names(tools.collect());
        // A name that is legal as it stands belongs to its tool, whatever is listed before it.
        let mut names = ModelNames::reserving(tools.iter().map(|tool| &*tool.wanted_name));
        let mut owners: HashMap<&str, &Arc<PreparedTool>, RandomState> = HashMap::default();
        let mut table = Self { generation: before.generation + 1, starting, shadowed, ..Self::default() };
        for tool in tools {
            let owner = owners.entry(&*tool.wanted_name).or_insert(tool);
            // Qualified names are equal by the accident of a separator only: those tools are told apart.
            let is_bare = owner.name_form == NameForm::Bare && tool.name_form == NameForm::Bare;
            if !Arc::ptr_eq(owner, tool) && is_bare {
                table.shadowed.push(Shadow::new(tool, owner));
                continue;
            }
            let model_name = names.assign(&tool.wanted_name, &tool.origin.tool_id);
            let (folded, wanted_folded) = (folded(&model_name), folded(&tool.wanted_name));
            let (tool, labels) = (Arc::clone(tool), Copies::default());
            table.routes.push(Route { folded, wanted_folded, model_name, tool, labels });
        }
        table.routes.sort_by(|a, b| a.model_name.cmp(&b.model_name));
        table.index();
        table.removed = removed(before, &table);
        table
    }

    /// The texts of the tools as a search reads them, prepared by the first one.
    pub(crate) fn search_index(&self) -> &SearchIndex {
        self.search.get_or_init(|| SearchIndex::new(&self.routes))
    }

    fn index(&mut self) {
        for Route { tool, .. } in self.routes.iter().filter(|route| is_deferred(&route.tool)) {
            self.findable.on_demand |= tool.spec.flags.on_demand;
            self.findable.deferred |= !tool.spec.flags.on_demand;
        }
        for (index, route) in self.routes.iter().enumerate() {
            self.by_name.insert(Arc::clone(&route.model_name), index);
            self.by_id.insert(route.tool.origin.tool_id.clone(), index);
        }
        // MCP clients call tools by the names that their providers gave them.
        for (index, route) in self.routes.iter().enumerate() {
            self.by_name.entry(Arc::clone(&route.tool.wanted_name)).or_insert(index);
        }
    }

    /// The place of the tool with this name in `routes`.
    pub(crate) fn find(&self, model_name: &str) -> Option<usize> {
        self.by_name.get(model_name).copied()
    }

    /// The place of this very tool in `routes`, whatever its name.
    pub(crate) fn find_tool(&self, tool_id: &ToolId) -> Option<usize> {
        self.by_id.get(tool_id.as_str()).copied()
    }

    /// Whether a tool had this model name, and nothing has it now.
    pub(crate) fn was_removed(&self, model_name: &str) -> bool {
        self.removed.contains(model_name)
    }

    /// The place of the tool with this id, else of the one with this name.
    pub(crate) fn find_by_id(&self, id_or_name: &str) -> Option<usize> {
        self.by_id.get(id_or_name).copied().or_else(|| self.find(id_or_name))
    }

    /// Why a name leads nowhere; `nearest` are the names that may have been meant.
    pub(crate) fn why_missing(&self, model_name: &str, nearest: &[&str], locale: Locale) -> CallError {
        if self.removed.contains(model_name) {
            return text::removed_tool(locale, model_name);
        }
        let belongs = |starting: &&Starting| starting.prefix.as_deref().is_some_and(|p| model_name.starts_with(p));
        match self.starting.iter().find(belongs) {
            Some(Starting { provider, reason: Some(reason), breaker, .. }) => breaker
                .as_ref()
                .and_then(|breaker| breaker.why_looping(locale, provider, reason))
                .unwrap_or_else(|| text::provider_down(locale, provider, reason)),
            Some(Starting { provider, .. }) => text::provider_starting(locale, provider),
            None => text::unknown_tool(locale, model_name, nearest),
        }
    }
}

// === impl Route ===

impl Route {
    /// The current worker's own copy of the labels.
    #[inline]
    pub(crate) fn labels(&self) -> &Labels {
        self.labels.mine(|| Labels {
            model_name: Arc::from(&*self.model_name),
            origin: Arc::new(ToolOrigin::clone(&self.tool.origin)),
        })
    }
}

/// The tools whose names are reserved come first; whoever else wants such a name, or what a model sees of it, goes.
fn without_reserved_names(mut tools: Vec<&Arc<PreparedTool>>) -> (Vec<&Arc<PreparedTool>>, Vec<Shadow>) {
    // Stable: else the order of the providers holds.
    tools.sort_by_key(|tool| !tool.reserved_name);
    let mut reserved: HashMap<Arc<str>, &Arc<PreparedTool>, RandomState> = HashMap::default();
    for tool in tools.iter().copied().filter(|tool| tool.reserved_name) {
        reserved.entry(Arc::clone(&tool.wanted_name)).or_insert(tool);
        reserved.entry(model_name(&tool.wanted_name)).or_insert(tool);
    }
    let mut shadowed = Vec::new();
    tools.retain(|tool| match reserved.get(&tool.wanted_name) {
        Some(owner) if !tool.reserved_name => {
            shadowed.push(Shadow::new(tool, owner));
            false
        }
        _ => true,
    });
    (tools, shadowed)
}

fn removed(before: &RoutingTable, now: &RoutingTable) -> HashSet<Arc<str>, RandomState> {
    let gone = before.routes.iter().map(|route| &route.model_name);
    gone.chain(&before.removed).filter(|name| now.find(name).is_none()).take(MAX_REMOVED).cloned().collect()
}

// === impl Shadow ===

impl Shadow {
    fn new(hidden: &PreparedTool, by: &PreparedTool) -> Self {
        let id = |tool: &PreparedTool| tool.origin.tool_id.as_str().into();
        let (provider, tool) = (Arc::clone(&hidden.handle.name), Arc::clone(&hidden.spec.name));
        Self { hidden: id(hidden), provider, tool, by: id(by) }
    }
}

//! What in the policy cannot be meant, as the tools stand.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{PreparedTool, Route, RoutingTable, ToolRegistry};
use crate::policy::{Policy, ToolNames};
use crate::tool::Visibility;

/// The built-in tools by which a model finds others.
const SEARCH: &str = "tool_search";
const USE: &str = "plugins.use";
/// Tools that one sentence names.
const MAX_NAMED: usize = 5;

// === impl ToolRegistry ===

impl ToolRegistry {
    /// What in the policy cannot be meant, as the tools stand now, in sentences for people: roles that may use tools which
    /// have to be found first but not the tool that finds them, and names that no tool and no provider has. Ask again when
    /// the tools have changed; while a provider has not listed its tools yet, names are not looked at.
    pub fn policy_findings(&self) -> Vec<String> {
        let (policy, table) = (self.policy(), self.engine.table.load_full());
        let mut findings: Vec<String> =
            policy.roles.iter().flat_map(|(role, names)| unfindable(role, names, &table)).collect();
        if table.starting.is_empty() {
            let providers: BTreeSet<Arc<str>> = self.providers().into_iter().map(|status| status.name).collect();
            let is_unknown = |provider: &&Arc<str>| !providers.contains(*provider);
            let unknown = policy.enabled_in.keys().filter(is_unknown);
            findings.extend(unknown.map(|provider| format!("enabled_in names `{provider}`, which is no provider")));
            findings.extend(unmatched(&policy, &table, &providers));
        }
        findings.sort_unstable();
        findings
    }
}

/// A list of names allows what it names alone: tools that are to be found first are lost without what finds them.
fn unfindable(role: &str, names: &ToolNames, table: &RoutingTable) -> Vec<String> {
    let has = |tool: &PreparedTool| names.contains(&tool.handle.name, tool.origin.tool_id.as_str(), &tool.wanted_name);
    let may_use =
        |finder: &str| table.routes.iter().any(|route| *route.tool.wanted_name == *finder && has(&route.tool));
    let mut findings = Vec::new();
    for (finder, is_on_demand) in [(SEARCH, false), (USE, true)] {
        let is_lost = |route: &&Route| is_deferred(&route.tool, is_on_demand) && has(&route.tool);
        let lost: Vec<&str> = table.routes.iter().filter(is_lost).map(|route| &*route.model_name).collect();
        if !names.is_all() && !lost.is_empty() && !may_use(finder) {
            findings.push(format!(
                "role `{role}` may use {}, which the model has to find first, but not `{finder}`",
                some_of(&lost)
            ));
        }
    }
    findings
}

fn is_deferred(tool: &PreparedTool, is_on_demand: bool) -> bool {
    let flags = tool.spec.flags;
    flags.on_demand == is_on_demand && (flags.on_demand || tool.spec.visibility == Some(Visibility::Deferred))
}

fn some_of(names: &[&str]) -> String {
    let named: Vec<String> = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", named.join(", ")),
        None => named.join(", "),
    }
}

/// A misspelt name denies nothing, or allows nothing.
fn unmatched(policy: &Policy, table: &RoutingTable, providers: &BTreeSet<Arc<str>>) -> Vec<String> {
    let of_roles = policy.roles.iter().map(|(role, names)| (format!("role `{role}`"), names));
    let of_rules = policy.denied.iter().map(|rule| ("a rule in `denied`".to_owned(), &rule.tools));
    let of_scenes = policy.scenes.iter().map(|(scene, rule)| (format!("scene `{scene}`"), &rule.denied));
    let of_limits = policy.usage.iter().map(|limit| (format!("the limit `{}`", limit.name), &limit.tools));
    let ordered = std::iter::once(("`ordered`".to_owned(), &policy.ordered));
    let sets = of_roles.chain(of_rules).chain(of_scenes).chain(of_limits).chain(ordered);
    let mut findings = Vec::new();
    for (whose, names) in sets {
        let is_known = |name: &str| {
            table
                .routes
                .iter()
                .any(|route| *route.tool.wanted_name == *name || route.tool.origin.tool_id.as_str() == name)
        };
        let no_tools = names.names().filter(|name| !is_known(name));
        findings.extend(no_tools.map(|name| format!("{whose} names `{name}`, which no tool is called")));
        let no_providers = names.providers().filter(|name| !providers.contains(*name));
        findings.extend(no_providers.map(|name| format!("{whose} names `{name}.*`, but `{name}` is no provider")));
    }
    findings
}

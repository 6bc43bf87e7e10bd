//! Reading `[policy]`: each table of it for itself, so that a mistake in one hides none in another.

use std::sync::Arc;

use toml::de::DeValue;
use toolyard::{Actor, CallPolicy, DenyRule, EffectChoices, NameForm, Policy, Retry, SceneRule, ToolNames, Visibility};

use super::{Reader, Section, split};
use crate::config::Config;
use crate::config::policy::{ActorKeys, CALL_KEYS, ChooserKeys, DeniedKeys, Names, PARTS, PlainKeys, SceneKeys};
use crate::config::provider::{ProviderConfig, ProviderKindConfig};

/// The tool by which a model finds those that are deferred.
const SEARCH: &str = "tool_search";

/// The tools of a role, with their places; looked at once the providers are known.
pub(super) struct RoleNames {
    role: String,
    names: Names,
}

// === impl Reader ===

impl Reader<'_> {
    /// How calls are read, and who may use which tool.
    pub(super) fn policy(&mut self, value: Section<'_>) -> (CallPolicy, Policy, Option<Retry>) {
        let (mut policy, mut retry) = (Policy::default(), None);
        let (calls, rest) = split(value, &CALL_KEYS);
        let (parts, own) = split(rest, &PARTS);
        let calls = self.section("policy", calls).unwrap_or_default();
        let own: PlainKeys = self.table("policy", own, &[&CALL_KEYS[..], &PARTS].concat()).unwrap_or_default();
        policy.source_messages = own.source_messages;
        policy.ordered = self.names("policy", &own.ordered);
        for (key, value) in self.members("policy", parts) {
            let section = format!("policy/{key}");
            match key.as_str() {
                "effects" => self.effects(&section, value, &mut policy),
                "roles" => self.roles(&section, value, &mut policy),
                "denied" => policy.denied = self.list(&section, value, Self::denied),
                "scenes" => self.scenes(&section, value, &mut policy),
                "enabled_in" => {
                    for (provider, scenes) in self.members(&section, value) {
                        let scenes: Vec<String> =
                            self.section(&format!("{section}/{provider}"), scenes).unwrap_or_default();
                        policy.enabled_in.insert(provider.into(), scenes.into_iter().map(Arc::from).collect());
                    }
                }
                "discovery" => self.discovery(&section, value, &mut policy),
                "context" => self.context(&section, value, &mut policy),
                "approvals" => self.approvals(&section, value, &mut policy),
                "usage" => policy.usage = self.usages(&section, value),
                "retry" => retry = self.retry(&section, value),
                _ => {}
            }
        }
        (calls, policy, retry)
    }

    fn effects(&mut self, section: &str, value: Section<'_>, policy: &mut Policy) {
        let (choices, own) = split(value, &["choices"]);
        let [model, scheduler] = self.actors(section, own, &["choices"]);
        policy.effects.model = policy.effects.model.with(model);
        policy.effects.scheduler = policy.effects.scheduler.with(scheduler);
        for (_, list) in self.members(section, choices) {
            let chosen = self.list(&format!("{section}/choices"), list, |reader, section, entry| {
                let (whose, choices) = split(entry, &["tenant", "user"]);
                let whose: Option<ChooserKeys> = reader.section(section, whose);
                let choices = reader.actors(section, choices, &["tenant", "user"]);
                whose.map(|whose| (whose, choices))
            });
            for (ChooserKeys { tenant, user }, [model, scheduler]) in chosen {
                policy.effects.choose(&tenant, user.as_deref(), Actor::Model, model);
                policy.effects.choose(&tenant, user.as_deref(), Actor::Scheduler, scheduler);
            }
        }
    }

    /// What is chosen for the model and for schedulers.
    fn actors(&mut self, section: &str, value: Section<'_>, others: &[&str]) -> [EffectChoices; 2] {
        let (parts, unknown) = split(value, &["model", "scheduler"]);
        let known = [others, &["model", "scheduler"]].concat();
        let _nobody: Option<ActorKeys> = self.table(section, unknown, &known);
        let mut choices = ActorKeys::default();
        for (actor, value) in self.members(section, parts) {
            let chosen = self.section(&format!("{section}/{actor}"), value).unwrap_or_default();
            let place = if actor == "model" { &mut choices.model } else { &mut choices.scheduler };
            *place = chosen;
        }
        [choices.model, choices.scheduler]
    }

    fn roles(&mut self, section: &str, value: Section<'_>, policy: &mut Policy) {
        for (role, names) in self.members(section, value) {
            let names: Names = self.section(&format!("{section}/{role}"), names).unwrap_or_default();
            policy.roles.insert(role.as_str().into(), self.names(&format!("{section}/{role}"), &names));
            self.roles.push(RoleNames { role, names });
        }
    }

    fn denied(&mut self, section: &str, value: Section<'_>) -> Option<DenyRule> {
        let span = value.span();
        let keys: DeniedKeys = self.section(section, value)?;
        if keys.tools.is_empty() {
            self.error(span, section, "`tools` is empty, so nothing is denied".to_owned());
        }
        let mut rule = DenyRule::new(self.names(section, &keys.tools));
        rule.tenant = keys.tenant.map(Arc::from);
        rule.user = keys.user.map(Arc::from);
        rule.role = keys.role.map(Arc::from);
        rule.actor = keys.actor;
        rule.reason = keys.reason;
        Some(rule)
    }

    fn scenes(&mut self, section: &str, value: Section<'_>, policy: &mut Policy) {
        for (scene, value) in self.members(section, value) {
            let section = format!("{section}/{scene}");
            let SceneKeys { paused, denied } = self.section(&section, value).unwrap_or_default();
            let mut rule = SceneRule::default();
            rule.paused = paused;
            rule.denied = self.names(&section, &denied);
            policy.scenes.insert(scene.into(), rule);
        }
    }

    /// A set of tools; a pattern that no name can match is a mistake, since it would allow or deny nothing.
    pub(super) fn names(&mut self, section: &str, names: &Names) -> ToolNames {
        for name in names.iter().filter(|name| !is_pattern(name.get_ref())) {
            let said = format!(
                "`{}` names no tools; write `*`, `<provider>.*`, `<provider>.<tool>`, or a tool's name",
                name.get_ref()
            );
            self.error(name.span(), section, said);
        }
        ToolNames::new(names.iter().map(|name| name.get_ref().as_str()))
    }

    /// The keys of a table, each with its value.
    fn members<'i>(&mut self, section: &str, value: Section<'i>) -> Vec<(String, Section<'i>)> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => {
                table.into_iter().map(|(key, value)| (key.into_inner().into_owned(), value)).collect()
            }
            _ => {
                self.error(span, section, "must be a table".to_owned());
                Vec::new()
            }
        }
    }

    /// Reads every entry of a list of tables.
    pub(super) fn list<T>(
        &mut self,
        section: &str,
        value: Section<'_>,
        mut read: impl FnMut(&mut Self, &str, Section<'_>) -> Option<T>,
    ) -> Vec<T> {
        let span = value.span();
        let DeValue::Array(entries) = value.into_inner() else {
            self.error(span, section, format!("must be written as [[{}]]", section.replace('/', ".")));
            return Vec::new();
        };
        let entries = entries.into_iter().enumerate();
        entries.filter_map(|(index, entry)| read(self, &format!("{section}/{index}"), entry)).collect()
    }

    /// A role that may use tools which have to be found first, but not the tool that finds them, cannot use them at all.
    pub(super) fn check_roles(&mut self, config: &Config) {
        for RoleNames { role, names } in std::mem::take(&mut self.roles) {
            let has = |wanted: &dyn Fn(&str) -> bool| names.iter().any(|name| wanted(name.get_ref()));
            let builtin = config.providers.iter().filter(|p| matches!(p.kind, ProviderKindConfig::Builtin(_)));
            let finders: Vec<String> =
                builtin.flat_map(|p| [format!("{}.*", p.name), format!("{}.{SEARCH}", p.name)]).collect();
            if has(&|name| name == "*" || name == SEARCH || finders.iter().any(|finder| finder == name)) {
                continue;
            }
            for name in &names {
                let Some(owner) = config.providers.iter().find(|p| is_deferred(p) && owns(p, name.get_ref())) else {
                    continue;
                };
                let said = format!(
                    "`{}`: tools of `{}` have to be found before they are called; allow `{SEARCH}` too",
                    name.get_ref(),
                    owner.name
                );
                self.error(name.span(), &format!("policy/roles/{role}"), said);
            }
        }
    }
}

fn is_pattern(name: &str) -> bool {
    let bare = name.strip_suffix(".*").unwrap_or(name);
    name == "*" || (!bare.is_empty() && !bare.contains('*') && !bare.contains(char::is_whitespace))
}

/// Whether a model has to find the provider's tools first, unless they say otherwise.
fn is_deferred(provider: &ProviderConfig) -> bool {
    match &provider.kind {
        ProviderKindConfig::LenBot(..) | ProviderKindConfig::Mcp(_) => true,
        ProviderKindConfig::MaiBot(config, _) => config.default_visibility == Visibility::Deferred,
        _ => false,
    }
}

fn owns(provider: &ProviderConfig, name: &str) -> bool {
    let rest = name.strip_prefix(provider.name.as_str());
    rest.is_some_and(|rest| {
        rest.starts_with('.') || (provider.settings().name_form == NameForm::Qualified && rest.starts_with("__"))
    })
}

#[cfg(test)]
mod tests;

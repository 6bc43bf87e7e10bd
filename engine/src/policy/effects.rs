//! Which effects may happen unasked (seed 003, "Effects").

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use serde::{Deserialize, Serialize};

use crate::call::{Actor, ToolExecutionContext};
use crate::tool::Effect;

/// What is decided of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may happen unasked.
    Allow,
    /// A person has to agree first. A scheduler has nobody to ask: for it this is a refusal.
    Ask,
    /// It may not happen.
    Deny,
}

/// A decision for each effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectRules {
    /// Looking something up. Default allow.
    pub read: Decision,
    /// Changing something of the user's. Default ask.
    pub write: Decision,
    /// Moving money. Default ask.
    pub money: Decision,
    /// Saying something in public. Default ask.
    pub public: Decision,
    /// Tools that declare no effect. Default allow.
    pub undeclared: Decision,
}

/// Decisions that differ from those of somebody wider; what is absent is as there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EffectChoices {
    /// Looking something up.
    pub read: Option<Decision>,
    /// Changing something of the user's.
    pub write: Option<Decision>,
    /// Moving money.
    pub money: Option<Decision>,
    /// Saying something in public.
    pub public: Option<Decision>,
    /// Tools that declare no effect.
    pub undeclared: Option<Decision>,
}

/// Which effects may happen unasked, for whom. A person acting needs no prompt and is not asked.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EffectPolicy {
    /// When the model acts.
    pub model: EffectRules,
    /// When a scheduler acts.
    pub scheduler: EffectRules,
    /// What tenants and their users have chosen otherwise.
    tenants: HashMap<Arc<str>, TenantChoices, RandomState>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct TenantChoices {
    own: ActorChoices,
    users: HashMap<Arc<str>, ActorChoices, RandomState>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ActorChoices {
    model: EffectChoices,
    scheduler: EffectChoices,
}

// === impl EffectRules ===

impl EffectRules {
    /// What is decided of an effect.
    pub const fn of(&self, effect: Option<Effect>) -> Decision {
        match effect {
            Some(Effect::Read) => self.read,
            Some(Effect::Write) => self.write,
            Some(Effect::Money) => self.money,
            Some(Effect::Public) => self.public,
            None => self.undeclared,
        }
    }

    /// These rules, where nothing else was chosen.
    #[must_use]
    pub fn with(self, choices: EffectChoices) -> Self {
        Self {
            read: choices.read.unwrap_or(self.read),
            write: choices.write.unwrap_or(self.write),
            money: choices.money.unwrap_or(self.money),
            public: choices.public.unwrap_or(self.public),
            undeclared: choices.undeclared.unwrap_or(self.undeclared),
        }
    }
}

impl Default for EffectRules {
    fn default() -> Self {
        let [allow, ask] = [Decision::Allow, Decision::Ask];
        Self { read: allow, write: ask, money: ask, public: ask, undeclared: allow }
    }
}

// === impl EffectPolicy ===

impl EffectPolicy {
    /// Notes what a tenant, or one user of it, has chosen for an actor; [`Actor::User`] is never asked.
    pub fn choose(&mut self, tenant: &str, user: Option<&str>, actor: Actor, choices: EffectChoices) {
        let tenant = self.tenants.entry(tenant.into()).or_default();
        let chooser = match user {
            Some(user) => tenant.users.entry(user.into()).or_default(),
            None => &mut tenant.own,
        };
        match actor {
            Actor::Model => chooser.model = choices,
            Actor::Scheduler => chooser.scheduler = choices,
            Actor::User => {}
        }
    }

    /// The rules for whoever acts in this context.
    pub(crate) fn rules(&self, context: &ToolExecutionContext) -> EffectRules {
        let (rules, of): (_, fn(&ActorChoices) -> EffectChoices) = match context.actor {
            Actor::Model | Actor::User => (self.model, |choices| choices.model),
            Actor::Scheduler => (self.scheduler, |choices| choices.scheduler),
        };
        if self.tenants.is_empty() {
            return rules;
        }
        let Some(tenant) = self.tenants.get(context.tenant.as_str()) else { return rules };
        let rules = rules.with(of(&tenant.own));
        tenant.users.get(context.user_id.as_str()).map_or(rules, |user| rules.with(of(user)))
    }
}

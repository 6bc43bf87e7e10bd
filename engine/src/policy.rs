//! Policy: what the operator has decided about who may use which tool. Data only; the gates apply it.

mod approvals;
mod context;
mod discovery;
mod effects;
mod membership;
mod names;
mod rules;
mod source_messages;
mod usage;

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;

pub use approvals::{ApprovalMode, ApprovalPolicy};
pub use context::ContextPolicy;
pub use discovery::{DiscoveryPolicy, Ranking, Undiscovered};
pub use effects::{Decision, EffectChoices, EffectPolicy, EffectRules};
pub(crate) use membership::Memberships;
use membership::Places;
pub use names::ToolNames;
pub use rules::{DenyRule, SceneRule};
pub use source_messages::SourceMessages;
pub use usage::{UsageLimit, UsagePer, UsageRate};

/// What the operator has decided about who may use which tool. The default is what the documents that Toolyard follows
/// ask for; [`crate::ToolRegistry::set_policy`] puts another one in its place at once, for batches that start later.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// Which effects may happen unasked.
    pub effects: EffectPolicy,
    /// Role -> the tools that it may use. A role without an entry has that of `*`, and where there is none either, it may
    /// use every tool.
    pub roles: HashMap<Arc<str>, ToolNames, RandomState>,
    /// Who may not use which tools, whatever else is said.
    pub denied: Vec<DenyRule>,
    /// Scene (stream id, else group id, else chat id) -> what holds there.
    pub scenes: HashMap<Arc<str>, SceneRule, RandomState>,
    /// Provider -> the only scenes in which its tools can be used. Providers without an entry can be used in all.
    pub enabled_in: HashMap<Arc<str>, Vec<Arc<str>>, RandomState>,
    /// How deferred tools are found and loaded.
    pub discovery: DiscoveryPolicy,
    /// How long context providers may take, and how much they may say.
    pub context: ContextPolicy,
    /// What becomes of calls that a person has to agree to.
    pub approvals: ApprovalPolicy,
    /// Which messages may be named as the source of a call.
    pub source_messages: SourceMessages,
    /// How often tools may be called.
    pub usage: Vec<UsageLimit>,
    /// Tools whose calls of one batch run one after another, in call order, beside those that declare it themselves.
    pub ordered: ToolNames,
}

// === impl Policy ===

impl Policy {
    /// The policy as it is put in force: tools remember in which of its sets they are. Those of scenes come last, since
    /// there may be more of them than tools remember.
    pub(crate) fn settled(mut self) -> Self {
        let mut places = Places::new();
        let limits = self.usage.iter_mut().map(|limit| &mut limit.tools);
        let rules = self.denied.iter_mut().map(|rule| &mut rule.tools);
        let sets = std::iter::once(&mut self.ordered).chain(limits).chain(self.roles.values_mut()).chain(rules);
        let scenes = self.scenes.values_mut().map(|rule| &mut rule.denied);
        sets.chain(scenes).for_each(|set| set.settle(&mut places));
        self
    }

    /// The tools that a role may use; nothing where it may use all.
    pub(crate) fn role(&self, role: &str) -> Option<&ToolNames> {
        if self.roles.is_empty() {
            return None;
        }
        self.roles.get(role).or_else(|| self.roles.get("*"))
    }
}

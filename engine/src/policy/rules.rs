//! Rules about callers and scenes.

use std::sync::Arc;

use super::ToolNames;
use crate::call::{Actor, ToolExecutionContext};

/// Tools that somebody may not use. What is absent matches everybody.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DenyRule {
    /// Of this tenant.
    pub tenant: Option<Arc<str>>,
    /// This user.
    pub user: Option<Arc<str>>,
    /// In this role.
    pub role: Option<Arc<str>>,
    /// When this actor acts.
    pub actor: Option<Actor>,
    /// The tools.
    pub tools: ToolNames,
    /// Why, for the model and for people.
    pub reason: Option<String>,
}

/// What holds in one scene.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SceneRule {
    /// The scene is paused: only built-in tools can be used.
    pub paused: bool,
    /// Tools that cannot be used there.
    pub denied: ToolNames,
}

// === impl DenyRule ===

impl DenyRule {
    /// Forbids everybody these tools; narrow it by setting the other fields.
    pub fn new(tools: ToolNames) -> Self {
        Self { tools, ..Self::default() }
    }

    pub(crate) fn concerns(&self, context: &ToolExecutionContext) -> bool {
        let is = |wanted: &Option<Arc<str>>, given: &str| wanted.as_deref().is_none_or(|wanted| wanted == given);
        is(&self.tenant, &context.tenant)
            && is(&self.user, &context.user_id)
            && is(&self.role, &context.role)
            && self.actor.is_none_or(|actor| actor == context.actor)
    }
}

//! Caller: who calls, from where, and what policy says of them. Looked up once for all calls of a batch.

use std::ops::Deref;

use crate::call::{Actor, ToolExecutionContext};
use crate::policy::{DenyRule, EffectRules, Policy, SceneRule, ToolNames};
use crate::session::{Session, SessionView};

/// What the gates look at, besides the tool and the call.
pub(crate) struct Caller<'a> {
    pub(crate) context: InContext<'a>,
    pub(crate) policy: &'a Policy,
    /// Without one there is no discovery, no turn and no taint.
    pub(crate) session: Option<SessionView>,
    /// Where the messages are that may be the source of a call.
    pub(super) source: Option<&'a Session>,
    /// The only tools that the role may use.
    pub(super) role: Option<&'a ToolNames>,
    pub(super) denied: Vec<&'a DenyRule>,
    pub(super) scene_rule: Option<&'a SceneRule>,
    pub(super) effects: EffectRules,
}

/// The context of a caller. Small: callers are moved about for every batch.
pub(crate) enum InContext<'a> {
    Given(&'a ToolExecutionContext),
    /// With what the profile of the session has filled in.
    Filled(Box<ToolExecutionContext>),
}

// === impl InContext ===

impl Deref for InContext<'_> {
    type Target = ToolExecutionContext;

    fn deref(&self) -> &ToolExecutionContext {
        match self {
            Self::Given(context) => context,
            Self::Filled(context) => context,
        }
    }
}

// === impl Caller ===

impl<'a> Caller<'a> {
    pub(crate) fn new(context: &'a ToolExecutionContext, policy: &'a Policy, session: Option<SessionView>) -> Self {
        Self::in_context(InContext::Given(context), policy, session)
    }

    pub(crate) fn in_context(context: InContext<'a>, policy: &'a Policy, session: Option<SessionView>) -> Self {
        Self {
            policy,
            session,
            source: None,
            role: policy.role(&context.role),
            denied: policy.denied.iter().filter(|rule| rule.concerns(&context)).collect(),
            scene_rule: if policy.scenes.is_empty() { None } else { policy.scenes.get(scene(&context)) },
            effects: policy.effects.rules(&context),
            context,
        }
    }

    /// The same caller, whose calls may name messages of this session as their source.
    pub(crate) fn with_source(self, session: Option<&'a Session>) -> Self {
        Self { source: session, ..self }
    }

    /// Where the conversation takes place, as policy names it.
    pub(super) fn scene(&self) -> &str {
        scene(&self.context)
    }

    pub(crate) fn is_model(&self) -> bool {
        self.context.actor == Actor::Model
    }

    /// Whether the turn is over, so that the model's calls are refused.
    pub(crate) fn turn_is_over(&self) -> bool {
        self.is_model() && self.session.as_ref().is_some_and(|session| session.turn.is_stopped())
    }
}

fn scene(context: &ToolExecutionContext) -> &str {
    let names = [&context.stream_id, &context.group_id, &context.chat_id];
    names.into_iter().find(|name| !name.is_empty()).map_or("", String::as_str)
}

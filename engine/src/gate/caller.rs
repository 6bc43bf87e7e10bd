//! Caller: who calls, from where, and what policy says of them. Looked up once for all calls of a batch.

use std::ops::Deref;

use crate::call::{Actor, ToolAvailabilityContext, ToolExecutionContext, TurnId};
use crate::policy::{DenyRule, EffectRules, Policy, SceneRule, ToolNames};
use crate::session::{Session, SessionView};

/// What the gates look at, besides the tool and the call.
pub(crate) struct Caller<'a> {
    pub(crate) context: InContext<'a>,
    pub(crate) policy: &'a Policy,
    /// Without one there is no discovery, no turn and no taint.
    pub(crate) session: Option<SessionView>,
    /// Where the messages are that may be the source of a call.
    pub(crate) source: Option<&'a Session>,
    /// The turn in which the calls were made, where it is not the present one.
    pub(super) made_in: Option<&'a TurnId>,
    /// The only tools that the role may use.
    pub(super) role: Option<&'a ToolNames>,
    pub(super) denied: Vec<&'a DenyRule>,
    /// Of every name of the scene.
    pub(super) scene_rules: Vec<&'a SceneRule>,
    /// What policy may call the place of the conversation; none where it speaks of no scene.
    scene_names: Vec<String>,
    pub(super) effects: EffectRules,
    findable: Findable,
}

/// What there is to find among the tools of a routing table, whoever looks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findable {
    /// Tools that a search finds.
    pub(crate) deferred: bool,
    /// Tools that are loaded with their plugin.
    pub(crate) on_demand: bool,
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
        let names_scenes = !policy.scenes.is_empty() || !policy.enabled_in.is_empty();
        let scene_names = if names_scenes { scene_names(&context) } else { Vec::new() };
        Self {
            policy,
            session,
            source: None,
            made_in: None,
            role: policy.role(&context.role),
            denied: policy.denied.iter().filter(|rule| rule.concerns(&context)).collect(),
            scene_rules: scene_names.iter().filter_map(|name| policy.scenes.get(name.as_str())).collect(),
            scene_names,
            effects: policy.effects.rules(&context),
            findable: Findable::default(),
            context,
        }
    }

    /// The same caller, among tools of which these are to be found.
    pub(crate) fn among(self, findable: Findable) -> Self {
        Self { findable, ..self }
    }

    /// The same caller, whose calls may name messages of this session as their source: of the present turn, or of the one
    /// in which they were made.
    pub(crate) fn with_source(self, session: Option<&'a Session>, made_in: Option<&'a TurnId>) -> Self {
        Self { source: session, made_in, ..self }
    }

    /// Whether the tools of a provider can be used where the caller is.
    pub(super) fn is_where(&self, provider: &str) -> bool {
        self.policy.enabled_in.is_empty()
            || self
                .policy
                .enabled_in
                .get(provider)
                .is_none_or(|scenes| scenes.iter().any(|scene| self.scene_names.iter().any(|name| *name == **scene)))
    }

    /// What providers may look at. Only a model's session that has not everything loaded has anything to find.
    pub(super) fn availability(&self) -> ToolAvailabilityContext<'_> {
        let finds = self.is_model() && self.session.as_ref().is_some_and(|session| session.loaded.is_some());
        ToolAvailabilityContext {
            has_deferred: finds && self.findable.deferred,
            has_on_demand: finds && self.findable.on_demand,
            ..self.context.availability()
        }
    }

    /// Whether policy lets a provider speak where the caller is.
    pub(crate) fn hears(&self, provider: &str) -> bool {
        !self.scene_rules.iter().any(|rule| rule.paused) && self.is_where(provider)
    }

    pub(crate) fn is_model(&self) -> bool {
        self.context.actor == Actor::Model
    }

    /// Whether the turn is over, so that the model's calls are refused.
    pub(crate) fn turn_is_over(&self) -> bool {
        self.is_model() && self.session.as_ref().is_some_and(|session| session.turn.is_stopped())
    }
}

/// Every name by which an operator may mean the place of a conversation: the stream, the chat as its platform has it
/// (`qq:group:80001`, `qq:private:70002`), the group, the chat id. A rule holds by whichever of them it was written.
fn scene_names(context: &ToolExecutionContext) -> Vec<String> {
    let ToolExecutionContext { stream_id, group_id, chat_id, user_id, platform, .. } = context;
    // An account may be written with its platform in front.
    let account = user_id.rsplit(':').next().unwrap_or_default();
    let of_platform = match (platform.is_empty(), group_id.is_empty(), account.is_empty()) {
        (false, false, _) => format!("{platform}:group:{group_id}"),
        (false, true, false) => format!("{platform}:private:{account}"),
        _ => String::new(),
    };
    let names = [stream_id.clone(), of_platform, group_id.clone(), chat_id.clone()];
    names.into_iter().filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_has_every_name_that_a_call_gives() {
        let of = |change: fn(&mut ToolExecutionContext)| {
            let mut context = ToolExecutionContext::default();
            change(&mut context);
            scene_names(&context)
        };
        assert!(of(|_| ()).is_empty());
        let group = of(|context| {
            (context.platform, context.group_id) = ("onebot".to_owned(), "80001".to_owned());
            (context.stream_id, context.chat_id) = ("stream".to_owned(), "chat".to_owned());
        });
        assert_eq!(group, ["stream", "onebot:group:80001", "80001", "chat"]);
        let person = of(|context| (context.platform, context.user_id) = ("qq".to_owned(), "qq:70002".to_owned()));
        assert_eq!(person, ["qq:private:70002"]);
    }
}

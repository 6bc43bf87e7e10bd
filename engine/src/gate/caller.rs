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
    pub(super) scene_rules: [Option<&'a SceneRule>; SCENE_NAMES],
    pub(super) effects: EffectRules,
    findable: Findable,
}

/// Names that the place of a conversation may have.
const SCENE_NAMES: usize = 4;

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
        Self {
            policy,
            session,
            source: None,
            made_in: None,
            role: policy.role(&context.role),
            denied: policy.denied.iter().filter(|rule| rule.concerns(&context)).collect(),
            scene_rules: scene_rules(policy, &context),
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
                .is_none_or(|scenes| scenes.iter().any(|scene| is_scene(&self.context, scene)))
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
        !self.scene_rules.iter().flatten().any(|rule| rule.paused) && self.is_where(provider)
    }

    pub(crate) fn is_model(&self) -> bool {
        self.context.actor == Actor::Model
    }

    /// Whether the turn is over, so that the model's calls are refused.
    pub(crate) fn turn_is_over(&self) -> bool {
        self.is_model() && self.session.as_ref().is_some_and(|session| session.turn.is_stopped())
    }
}

/// The rules of a scene, by every name by which an operator may mean the place of a conversation: the stream, the chat as its
/// platform has it (`qq:group:80001`, `qq:private:70002`), the group, the chat id. A rule holds by whichever of them it
/// was written.
fn scene_rules<'a>(policy: &'a Policy, context: &ToolExecutionContext) -> [Option<&'a SceneRule>; SCENE_NAMES] {
    if policy.scenes.is_empty() {
        return [None; SCENE_NAMES];
    }
    let of_platform = match of_platform(context) {
        Some((kind, id)) => format!("{}:{kind}:{id}", context.platform),
        None => String::new(),
    };
    let names = [context.stream_id.as_str(), &of_platform, &context.group_id, &context.chat_id];
    names.map(|name| policy.scenes.get(name).filter(|_| !name.is_empty()))
}

/// Whether an operator means the place of the conversation by this name. Makes no text, since every call asks it.
fn is_scene(context: &ToolExecutionContext, scene: &str) -> bool {
    let is_of_platform = || {
        let rest = scene.strip_prefix(context.platform.as_str()).and_then(|rest| rest.strip_prefix(':'));
        let (Some(rest), Some((kind, id))) = (rest, of_platform(context)) else { return false };
        rest.strip_prefix(kind).and_then(|rest| rest.strip_prefix(':')) == Some(id)
    };
    let ToolExecutionContext { stream_id, group_id, chat_id, .. } = context;
    !scene.is_empty() && (scene == stream_id || scene == group_id || scene == chat_id || is_of_platform())
}

/// What a platform tells its chats apart by, and the chat.
fn of_platform(context: &ToolExecutionContext) -> Option<(&'static str, &str)> {
    let ToolExecutionContext { group_id, user_id, platform, .. } = context;
    // An account may be written with its platform in front.
    let account = user_id.rsplit(':').next().unwrap_or_default();
    match (platform.is_empty(), group_id.is_empty(), account.is_empty()) {
        (false, false, _) => Some(("group", group_id)),
        (false, true, false) => Some(("private", account)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these scenes a policy means the caller's place by, in both ways of asking.
    fn meant<'a>(scenes: &[&'a str], change: fn(&mut ToolExecutionContext)) -> Vec<&'a str> {
        let mut context = ToolExecutionContext::default();
        change(&mut context);
        let has_rule = |scene: &str| {
            let mut policy = Policy::default();
            policy.scenes.insert(scene.into(), SceneRule::default());
            scene_rules(&policy, &context).iter().any(Option::is_some)
        };
        let is_meant = |scene: &&&str| {
            assert_eq!(has_rule(scene), is_scene(&context, scene), "{scene}");
            has_rule(scene)
        };
        scenes.iter().filter(is_meant).copied().collect()
    }

    #[test]
    fn a_scene_has_every_name_that_a_call_gives() {
        let scenes =
            ["", ":", "stream", "chat", "80001", "qq:private:70002", "onebot:group:80001", "onebot:group:8000"];
        let more = ["qq:group:", "qq:private:", "group:80001", "onebot:private:80001", "70002", "qq:70002"];
        let scenes = [&scenes[..], &more].concat();
        assert!(meant(&scenes, |_| ()).is_empty());
        let group = meant(&scenes, |context| {
            (context.platform, context.group_id) = ("onebot".to_owned(), "80001".to_owned());
            (context.stream_id, context.chat_id) = ("stream".to_owned(), "chat".to_owned());
        });
        assert_eq!(group, ["stream", "chat", "80001", "onebot:group:80001"]);
        let person = |context: &mut ToolExecutionContext| {
            (context.platform, context.user_id) = ("qq".to_owned(), "qq:70002".to_owned());
        };
        assert_eq!(meant(&scenes, person), ["qq:private:70002"]);
    }
}

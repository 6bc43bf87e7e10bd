//! Case: a random configuration, kept as plain data, so that the rules can be read off it without the engine's own types.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use toolyard::{
    Actor, ChatScope, Decision, DenyRule, Effect, EffectRules, FunctionProvider, FunctionTool, LoadedSet, Policy,
    SceneRule, SourceMessages, Stage, ToolExecutionContext, ToolExecutionResult, ToolNames, ToolSpec, Undiscovered,
    Visibility,
};

/// Providers and their kinds.
pub(super) const PROVIDERS: [(&str, &str); 3] = [("core", "builtin"), ("p", "test"), ("q", "test")];
const TOOLS: [&str; 4] = ["t0", "t1", "t2", "t3"];
const PATTERNS: [&str; 9] = ["*", "core.*", "p.*", "q.*", "t0", "t1", "p.t2", "q.t3", "nothing"];
const SCENES: [&str; 3] = ["s1", "s2", ""];

#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Place among the providers.
    pub(super) provider: usize,
    pub(super) spec: ToolSpec,
}

#[derive(Clone, Debug)]
pub(super) struct Denied {
    pub(super) names: Vec<&'static str>,
    pub(super) user: Option<&'static str>,
    pub(super) role: Option<&'static str>,
    pub(super) actor: Option<Actor>,
}

#[derive(Clone, Debug)]
pub(super) struct Before {
    pub(super) tools: Vec<&'static str>,
    pub(super) providers: Vec<&'static str>,
    pub(super) tainted: bool,
    pub(super) stopped: bool,
    /// The turn in which the message `m` came; the present one is `1`.
    pub(super) message_in: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) tools: Vec<Tool>,
    pub(super) roles: Vec<(&'static str, Vec<&'static str>)>,
    pub(super) denied: Vec<Denied>,
    pub(super) paused: Vec<&'static str>,
    pub(super) denied_in: Vec<(&'static str, Vec<&'static str>)>,
    pub(super) enabled_in: Vec<(&'static str, Vec<&'static str>)>,
    pub(super) undiscovered: Undiscovered,
    pub(super) source_messages: SourceMessages,
    pub(super) model: EffectRules,
    pub(super) scheduler: EffectRules,
    pub(super) context: ToolExecutionContext,
    pub(super) session: Option<Before>,
    pub(super) all_loaded: bool,
    pub(super) names_message: bool,
}

// === impl Tool ===

impl Tool {
    pub(super) fn id(&self) -> String {
        format!("{}.{}", PROVIDERS[self.provider].0, self.name)
    }
}

// === impl Before ===

impl Before {
    pub(super) fn loaded(&self, case: &Case) -> LoadedSet {
        let found = case.tools.iter().filter(|tool| self.tools.contains(&tool.name));
        LoadedSet {
            tools: found.map(|tool| Arc::from(tool.id())).collect(),
            providers: self.providers.iter().map(|name| Arc::from(*name)).collect(),
        }
    }
}

// === impl Case ===

impl Case {
    pub(super) fn policy(&self) -> Policy {
        let names = |patterns: &[&'static str]| ToolNames::new(patterns.iter().copied());
        let mut policy = Policy::default();
        policy.roles.extend(self.roles.iter().map(|(role, patterns)| (Arc::from(*role), names(patterns))));
        policy.denied.extend(self.denied.iter().map(|denied| {
            let mut rule = DenyRule::new(names(&denied.names));
            rule.user = denied.user.map(Arc::from);
            rule.role = denied.role.map(Arc::from);
            rule.actor = denied.actor;
            rule
        }));
        for scene in SCENES {
            let mut rule = SceneRule::default();
            rule.paused = self.paused.contains(&scene);
            rule.denied =
                self.denied_in.iter().find(|(name, _)| *name == scene).map(|(_, n)| names(n)).unwrap_or_default();
            policy.scenes.insert(scene.into(), rule);
        }
        policy.enabled_in.extend(
            self.enabled_in.iter().map(|(provider, scenes)| {
                (Arc::from(*provider), scenes.iter().map(|scene| Arc::from(*scene)).collect())
            }),
        );
        policy.discovery.undiscovered = self.undiscovered;
        policy.source_messages = self.source_messages;
        (policy.effects.model, policy.effects.scheduler) = (self.model, self.scheduler);
        policy
    }
}

/// A tool that taints its turn and asks it to stop, as told.
pub(super) fn helper(taints: bool, stops: bool) -> Arc<FunctionProvider> {
    let mut spec = ToolSpec::new("helper", "");
    spec.flags.untrusted = taints;
    let tool = FunctionTool::new(spec, move |_, _| {
        let result = ToolExecutionResult::success("");
        std::future::ready(Ok(if stops { result.stopping() } else { result }))
    });
    Arc::new(FunctionProvider::new("helper").with_tool(tool))
}

/// Mostly nothing, so that calls get far often enough.
fn seldom() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.12)
}

fn tool(index: usize) -> impl Strategy<Value = Tool> {
    let visibility = prop_oneof![
        4 => Just(None),
        3 => Just(Some(Visibility::Deferred)),
        1 => Just(Some(Visibility::Hidden)),
        1 => Just(Some(Visibility::Visible)),
    ];
    let effect = option::of(select(vec![Effect::Read, Effect::Write, Effect::Money, Effect::Public]));
    let chats = option::weighted(0.2, select(vec![ChatScope::Group, ChatScope::Private]));
    let stage = option::weighted(0.2, select(vec![Stage::Timing, Stage::Action]));
    let platforms = option::weighted(0.2, select(vec!["qq", "wx"]));
    let flags = (seldom(), seldom(), prop::bool::weighted(0.25), prop::bool::weighted(0.25));
    (0..PROVIDERS.len(), visibility, effect, chats, stage, platforms, flags).prop_map(
        move |(
            provider,
            visibility,
            effect,
            chats,
            stage,
            platforms,
            (withheld, user_only, on_demand, needs_source),
        )| {
            let mut spec = ToolSpec::new(TOOLS[index], "");
            (spec.visibility, spec.effect) = (visibility, effect);
            spec.withheld = withheld.then(|| "changed".to_owned());
            (spec.flags.user_only, spec.flags.on_demand) = (user_only, on_demand);
            spec.flags.needs_source = needs_source;
            (spec.scope.chats, spec.scope.stage) = (chats, stage);
            spec.scope.platforms = platforms.into_iter().map(str::to_owned).collect();
            Tool { name: TOOLS[index], provider, spec }
        },
    )
}

fn patterns() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(PATTERNS.to_vec(), 0..=4)
}

fn denied() -> impl Strategy<Value = Denied> {
    let user = option::of(select(vec!["ann", "bob"]));
    let role = option::of(select(vec!["guest", "owner"]));
    let actor = option::of(select(vec![Actor::Model, Actor::User, Actor::Scheduler]));
    (patterns(), user, role, actor).prop_map(|(names, user, role, actor)| Denied { names, user, role, actor })
}

fn rules() -> impl Strategy<Value = EffectRules> {
    let decision = || select(vec![Decision::Allow, Decision::Allow, Decision::Ask, Decision::Deny]);
    (decision(), decision(), decision(), decision(), decision())
        .prop_map(|(read, write, money, public, undeclared)| EffectRules { read, write, money, public, undeclared })
}

fn context() -> impl Strategy<Value = ToolExecutionContext> {
    let actor = select(vec![Actor::Model, Actor::Model, Actor::Model, Actor::User, Actor::Scheduler]);
    let stage = select(vec![Stage::Action, Stage::Action, Stage::Timing]);
    let texts = (select(vec!["", "guest", "owner"]), select(vec!["ann", "bob"]), select(SCENES.to_vec()));
    (actor, stage, texts, select(vec!["qq", "WX", "tg"]), any::<bool>()).prop_map(
        |(actor, stage, (role, user, scene), platform, is_group_chat)| ToolExecutionContext {
            actor,
            stage,
            is_group_chat,
            role: role.to_owned(),
            user_id: user.to_owned(),
            group_id: scene.to_owned(),
            platform: platform.to_owned(),
            tenant: "t".to_owned(),
            ..ToolExecutionContext::default()
        },
    )
}

fn before() -> impl Strategy<Value = Before> {
    let providers = subsequence(PROVIDERS.map(|(name, _)| name).to_vec(), 0..=2);
    let message_in = option::weighted(0.8, select(vec!["1", "1", "0"]));
    (subsequence(TOOLS.to_vec(), 0..=4), providers, any::<bool>(), seldom(), message_in).prop_map(
        |(tools, providers, tainted, stopped, message_in)| Before { tools, providers, tainted, stopped, message_in },
    )
}

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let roles = option::weighted(0.5, (select(vec!["*", "guest", "owner"]), patterns()));
    let scenes = (
        option::weighted(0.3, select(SCENES.to_vec())),
        option::weighted(0.3, (select(SCENES.to_vec()), patterns())),
        option::weighted(0.3, (select(vec!["core", "p", "q"]), subsequence(SCENES.to_vec(), 0..=2))),
    );
    let choices = (
        prop_oneof![3 => Just(Undiscovered::Refuse), 1 => Just(Undiscovered::Allow)],
        select(vec![SourceMessages::Turn, SourceMessages::Scene]),
        rules(),
        rules(),
    );
    let caller = (context(), option::weighted(0.75, before()), seldom(), prop::bool::weighted(0.8));
    let tools = (tool(0), tool(1), tool(2), tool(3)).prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    (tools, roles, vec(denied(), 0..2), scenes, choices, caller).prop_map(
        |(tools, roles, denied, (paused, denied_in, enabled_in), choices, caller)| {
            let (undiscovered, source_messages, model, scheduler) = choices;
            let (context, session, all_loaded, names_message) = caller;
            Case {
                tools,
                roles: roles.into_iter().collect(),
                denied,
                paused: paused.into_iter().collect(),
                denied_in: denied_in.into_iter().collect(),
                enabled_in: enabled_in.into_iter().collect(),
                undiscovered,
                source_messages,
                model,
                scheduler,
                context,
                session,
                all_loaded,
                names_message,
            }
        },
    )
}

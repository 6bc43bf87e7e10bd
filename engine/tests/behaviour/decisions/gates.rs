//! Every gate but those of effects and source messages: a row for each way through it and each way not.

use serde_json::json;
use toolyard::ErrorCode::{ArgumentsSchema, PolicyDenied, PolicyHidden, PolicyNotLoaded, PolicyUserOnly};
use toolyard::{
    Actor, CallStatus, ChatScope, DenyRule, Executed, Policy, SceneRule, Stage, ToolExecutionContext, ToolNames,
    ToolSpec, Undiscovered, Visibility,
};

use super::world::Verdict::{OnlyListed, OnlyRuns, Refused};
use super::world::{Before, Row, World};
use crate::fixture::{HOUR, Script, Start, code_of, run_one, settings, until};

const PLAIN: Row = Row::PLAIN;

async fn hold(rows: impl IntoIterator<Item = Row>) {
    for row in rows {
        row.hold("test").await;
    }
}

fn role(policy: &mut Policy, role: &str, names: &[&str]) {
    policy.roles.insert(role.into(), ToolNames::new(names.iter().copied()));
}

fn deny(policy: &mut Policy, change: fn(&mut DenyRule)) {
    let mut rule = DenyRule::new(ToolNames::new(["act"]));
    change(&mut rule);
    policy.denied.push(rule);
}

fn scene(policy: &mut Policy, change: fn(&mut SceneRule)) {
    let mut rule = SceneRule::default();
    change(&mut rule);
    policy.scenes.insert("lounge".into(), rule);
}

#[tokio::test(start_paused = true)]
async fn the_withheld_gate() {
    let withheld: fn(&mut ToolSpec) = |tool| tool.withheld = Some("it has changed".to_owned());
    hold([
        PLAIN,
        Row { why: "withheld from the model", tool: withheld, verdict: Refused(PolicyDenied), ..PLAIN },
        Row {
            why: "withheld from people too",
            tool: withheld,
            context: |context| context.actor = Actor::User,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_roles() {
    let guest: fn(&mut ToolExecutionContext) = |context| context.role = "guest".to_owned();
    hold([
        Row { why: "a role without an entry may use all", context: guest, ..PLAIN },
        Row { why: "another role's list", policy: |p| role(p, "owner", &["x"]), context: guest, ..PLAIN },
        Row { why: "its bare name", policy: |p| role(p, "guest", &["act"]), context: guest, ..PLAIN },
        Row { why: "its id", policy: |p| role(p, "guest", &["p.act"]), context: guest, ..PLAIN },
        Row { why: "its provider", policy: |p| role(p, "guest", &["p.*"]), context: guest, ..PLAIN },
        Row { why: "every tool", policy: |p| role(p, "guest", &["*"]), context: guest, ..PLAIN },
        Row {
            why: "not on the list",
            policy: |p| role(p, "guest", &["Act", "q.*", "q.act"]),
            context: guest,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "an empty list allows nothing",
            policy: |p| role(p, "guest", &[]),
            context: guest,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "the default list holds for roles without one",
            policy: |p| role(p, "*", &["x"]),
            context: guest,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row { why: "and for no role", policy: |p| role(p, "*", &["x"]), verdict: Refused(PolicyDenied), ..PLAIN },
        Row {
            why: "a role's own list goes before the default",
            policy: |p| {
                role(p, "*", &["x"]);
                role(p, "guest", &["act"]);
            },
            context: guest,
            ..PLAIN
        },
        Row {
            why: "people have roles too",
            policy: |p| role(p, "guest", &["x"]),
            context: |context| {
                context.role = "guest".to_owned();
                context.actor = Actor::User;
            },
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_denied_tools() {
    let bot1: fn(&mut ToolExecutionContext) = |context| {
        context.user_id = "bot1".to_owned();
        context.tenant = "t".to_owned();
        context.role = "guest".to_owned();
    };
    hold([
        Row { why: "denied to everybody", policy: |p| deny(p, |_| ()), verdict: Refused(PolicyDenied), ..PLAIN },
        Row {
            why: "denied to this user",
            policy: |p| deny(p, |rule| rule.user = Some("bot1".into())),
            context: bot1,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row { why: "denied to another user", policy: |p| deny(p, |rule| rule.user = Some("bot1".into())), ..PLAIN },
        Row {
            why: "denied to this tenant",
            policy: |p| deny(p, |rule| rule.tenant = Some("t".into())),
            context: bot1,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "every part of a rule has to fit",
            policy: |p| {
                deny(p, |rule| {
                    rule.tenant = Some("t".into());
                    rule.role = Some("owner".into());
                });
            },
            context: bot1,
            ..PLAIN
        },
        Row {
            why: "denied to the model",
            policy: |p| deny(p, |rule| rule.actor = Some(Actor::Model)),
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "denied to the model only",
            policy: |p| deny(p, |rule| rule.actor = Some(Actor::Model)),
            context: |context| context.actor = Actor::User,
            ..PLAIN
        },
        Row {
            why: "denied though its role may use all",
            policy: |p| {
                role(p, "*", &["*"]);
                deny(p, |_| ());
            },
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_scenes() {
    let here: fn(&mut ToolExecutionContext) = |context| context.group_id = "lounge".to_owned();
    hold([
        Row {
            why: "a paused scene",
            policy: |p| scene(p, |rule| rule.paused = true),
            context: here,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row { why: "elsewhere", policy: |p| scene(p, |rule| rule.paused = true), ..PLAIN },
        Row {
            why: "a rule of the group holds in its streams",
            policy: |p| scene(p, |rule| rule.paused = true),
            context: |context| {
                context.stream_id = "other".to_owned();
                context.group_id = "lounge".to_owned();
            },
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "a group as its platform has it",
            policy: |p| {
                let mut rule = SceneRule::default();
                rule.paused = true;
                p.scenes.insert("onebot:group:80001".into(), rule);
            },
            context: |context| {
                (context.platform, context.group_id) = ("onebot".to_owned(), "80001".to_owned());
            },
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "denied in the scene",
            policy: |p| scene(p, |rule| rule.denied = ToolNames::new(["p.*"])),
            context: here,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "enabled in the scene",
            policy: |p| drop(p.enabled_in.insert("p".into(), vec!["lounge".into()])),
            context: here,
            ..PLAIN
        },
        Row {
            why: "enabled in other scenes only",
            policy: |p| drop(p.enabled_in.insert("p".into(), vec!["hall".into()])),
            context: here,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "enabled in scenes, called from none",
            policy: |p| drop(p.enabled_in.insert("p".into(), vec!["lounge".into()])),
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
    ])
    .await;
    let paused = Row { policy: |p| scene(p, |rule| rule.paused = true), context: here, ..PLAIN };
    Row { why: "built-in tools go on in a paused scene", ..paused }.hold("builtin").await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_chats_platforms_and_stages() {
    let for_groups: fn(&mut ToolSpec) = |tool| tool.scope.chats = Some(ChatScope::Group);
    let for_people: fn(&mut ToolSpec) = |tool| tool.scope.chats = Some(ChatScope::Private);
    let on_qq: fn(&mut ToolSpec) = |tool| tool.scope.platforms = vec!["qq".to_owned(), "wx".to_owned()];
    let timing: fn(&mut ToolSpec) = |tool| tool.scope.stage = Some(Stage::Timing);
    let group: fn(&mut ToolExecutionContext) = |context| context.is_group_chat = true;
    hold([
        Row { why: "for groups, in one", tool: for_groups, context: group, ..PLAIN },
        Row { why: "for groups, in private", tool: for_groups, verdict: Refused(PolicyDenied), ..PLAIN },
        Row { why: "for private chats, in one", tool: for_people, ..PLAIN },
        Row {
            why: "for private chats, in a group",
            tool: for_people,
            context: group,
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row {
            why: "on its platform, in any letter case",
            tool: on_qq,
            context: |context| context.platform = "QQ".to_owned(),
            ..PLAIN
        },
        Row {
            why: "on another platform",
            tool: on_qq,
            context: |context| context.platform = "tg".to_owned(),
            verdict: Refused(PolicyDenied),
            ..PLAIN
        },
        Row { why: "on no platform", tool: on_qq, verdict: Refused(PolicyDenied), ..PLAIN },
        Row { why: "of another stage", tool: timing, verdict: Refused(PolicyDenied), ..PLAIN },
        Row { why: "of this stage", tool: timing, context: |context| context.stage = Stage::Timing, ..PLAIN },
        Row {
            why: "stages are the planner's, not a person's",
            tool: timing,
            context: |context| context.actor = Actor::User,
            ..PLAIN
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_discovery() {
    let deferred: fn(&mut ToolSpec) = |tool| tool.visibility = Some(Visibility::Deferred);
    let on_demand: fn(&mut ToolSpec) = |tool| tool.flags.on_demand = true;
    let in_maibot: fn(&mut Policy) = |policy| policy.discovery.undiscovered = Undiscovered::Allow;
    let not_loaded = Refused(PolicyNotLoaded);
    hold([
        Row { why: "without a session everything counts as loaded", tool: deferred, ..PLAIN },
        Row { why: "not found yet", tool: deferred, before: Before::Session, verdict: not_loaded, ..PLAIN },
        Row { why: "found", tool: deferred, before: Before::Loaded, ..PLAIN },
        Row {
            why: "a loaded provider is for its on-demand tools",
            tool: deferred,
            before: Before::LoadedProvider,
            verdict: not_loaded,
            ..PLAIN
        },
        Row { why: "on demand, not loaded", tool: on_demand, before: Before::Session, verdict: not_loaded, ..PLAIN },
        Row { why: "on demand, its plugin loaded", tool: on_demand, before: Before::LoadedProvider, ..PLAIN },
        Row { why: "on demand, found by name", tool: on_demand, before: Before::Loaded, ..PLAIN },
        Row { why: "visible tools need no finding", before: Before::Session, ..PLAIN },
        Row {
            why: "where undiscovered calls are allowed they run, and are not listed",
            tool: deferred,
            policy: in_maibot,
            before: Before::Session,
            verdict: OnlyRuns(PolicyNotLoaded),
            ..PLAIN
        },
        Row {
            why: "a person needs to find nothing",
            tool: deferred,
            context: |context| context.actor = Actor::User,
            before: Before::Session,
            ..PLAIN
        },
        Row {
            why: "nor does a scheduler",
            tool: on_demand,
            context: |context| context.actor = Actor::Scheduler,
            before: Before::Session,
            ..PLAIN
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_actors() {
    let user_only: fn(&mut ToolSpec) = |tool| tool.flags.user_only = true;
    let hidden: fn(&mut ToolSpec) = |tool| tool.visibility = Some(Visibility::Hidden);
    let scheduler: fn(&mut ToolExecutionContext) = |context| context.actor = Actor::Scheduler;
    let person: fn(&mut ToolExecutionContext) = |context| context.actor = Actor::User;
    hold([
        Row { why: "a guessed name", tool: user_only, verdict: Refused(PolicyUserOnly), ..PLAIN },
        Row {
            why: "a scheduler is no person",
            tool: user_only,
            context: scheduler,
            verdict: Refused(PolicyUserOnly),
            ..PLAIN
        },
        Row { why: "a person", tool: user_only, context: person, ..PLAIN },
        Row { why: "hidden from the model", tool: hidden, verdict: Refused(PolicyHidden), ..PLAIN },
        Row { why: "and from schedulers", tool: hidden, context: scheduler, verdict: Refused(PolicyHidden), ..PLAIN },
        Row { why: "but not from people", tool: hidden, context: person, ..PLAIN },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_arguments_judges_calls_and_no_lists() {
    let needs_n: fn(&mut ToolSpec) = |tool| {
        tool.parameters_schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    };
    hold([
        Row { why: "what is missing", tool: needs_n, verdict: OnlyListed(ArgumentsSchema), ..PLAIN },
        Row {
            why: "a person's arguments are checked as well",
            tool: needs_n,
            context: |context| context.actor = Actor::User,
            verdict: OnlyListed(ArgumentsSchema),
            ..PLAIN
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_turns_judges_calls_and_no_lists() {
    hold([
        Row { why: "the turn was asked to stop", before: Before::Stopped, verdict: OnlyListed(PolicyDenied), ..PLAIN },
        Row {
            why: "a person is in no turn",
            context: |context| context.actor = Actor::User,
            before: Before::Stopped,
            ..PLAIN
        },
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_providers() {
    let world = World::new([]).await;
    let context = ToolExecutionContext::default();
    let script = Script::new("s", ["act"]);
    script.launch(&world.registry, settings(|_| ())).await;
    assert_eq!(world.unlisted("act", &context, None), None);
    script.starts_with([Start::After(HOUR)]);
    script.crash();
    until("it is down", || world.unlisted("act", &context, None).is_some()).await;
    let found = world.unlisted("act", &context, None).map(|(code, _)| code);
    let result = run_one(&world.registry, "act").await;
    assert_eq!((result.status, code_of(&result)), (CallStatus::Unavailable, found));
    assert_eq!((result.executed, script.entered()), (Executed::No, 0));
}

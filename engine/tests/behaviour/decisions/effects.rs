//! The gate of effects: each effect, each decision, each actor, in a clean turn and in a tainted one.

use serde_json::json;
use toolyard::ErrorCode::PolicyDenied;
use toolyard::{Actor, Decision, Effect, EffectChoices, EffectRules, Policy, ToolExecutionContext, ToolSpec};

use super::world::Verdict::{Asks, Refused, Runs};
use super::world::{Before, Verdict, World};

const EFFECTS: [Option<Effect>; 5] =
    [None, Some(Effect::Read), Some(Effect::Write), Some(Effect::Money), Some(Effect::Public)];

fn name(effect: Option<Effect>) -> &'static str {
    match effect {
        None => "undeclared",
        Some(Effect::Read) => "read",
        Some(Effect::Write) => "write",
        Some(Effect::Money) => "money",
        Some(Effect::Public) => "public",
    }
}

/// A tool of each effect.
async fn world() -> World {
    let tools = EFFECTS.map(|effect| {
        let mut spec = ToolSpec::new(name(effect), "");
        spec.effect = effect;
        spec
    });
    World::new([("p", "test", tools.to_vec())]).await
}

fn as_actor(actor: Actor) -> ToolExecutionContext {
    ToolExecutionContext { actor, tenant: "t".to_owned(), user_id: "ann".to_owned(), ..Default::default() }
}

fn all(decision: Decision) -> EffectRules {
    EffectRules { read: decision, write: decision, money: decision, public: decision, undeclared: decision }
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_effects() {
    for decision in [Decision::Allow, Decision::Ask, Decision::Deny] {
        for before in [Before::Nothing, Before::Session, Before::Tainted] {
            let world = world().await;
            let mut policy = Policy::default();
            (policy.effects.model, policy.effects.scheduler) = (all(decision), all(decision));
            world.registry.set_policy(policy);
            let session = world.prepare(before).await;
            for (effect, actor) in
                EFFECTS.iter().flat_map(|e| [Actor::Model, Actor::User, Actor::Scheduler].map(|a| (*e, a)))
            {
                let lasts = matches!(effect, Some(Effect::Write | Effect::Money | Effect::Public));
                let expected = match (actor, decision) {
                    (Actor::User, _) => Runs,
                    (_, Decision::Deny) | (Actor::Scheduler, Decision::Ask) => Refused(PolicyDenied),
                    (Actor::Model, Decision::Ask) => Asks,
                    (Actor::Model, Decision::Allow) if lasts && before == Before::Tainted => Asks,
                    (_, Decision::Allow) => Runs,
                };
                let found = world.verdict(name(effect), &as_actor(actor), session.as_ref(), &json!({})).await;
                assert_eq!(found, expected, "{} {actor:?} {decision:?} {before:?}", name(effect));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_configured_is_decided_as_is_safe() {
    let world = world().await;
    let denied = Refused(PolicyDenied);
    let rows: [(Actor, [Verdict; 5]); 3] = [
        (Actor::Model, [Runs, Runs, Asks, Asks, Asks]),
        (Actor::Scheduler, [Runs, Runs, denied, denied, denied]),
        (Actor::User, [Runs, Runs, Runs, Runs, Runs]),
    ];
    for (actor, expected) in rows {
        for (effect, expected) in EFFECTS.into_iter().zip(expected) {
            let found = world.verdict(name(effect), &as_actor(actor), None, &json!({})).await;
            assert_eq!(found, expected, "{} {actor:?}", name(effect));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_users_choice_goes_before_the_tenants_and_that_before_everybodys() {
    let world = world().await;
    let mut policy = Policy::default();
    let write = |decision| EffectChoices { write: Some(decision), ..EffectChoices::default() };
    policy.effects.choose("t", None, Actor::Model, write(Decision::Deny));
    policy.effects.choose("t", Some("ann"), Actor::Model, write(Decision::Allow));
    policy.effects.choose("t", Some("ann"), Actor::Scheduler, write(Decision::Allow));
    world.registry.set_policy(policy);
    let context = |tenant: &str, user: &str, actor| ToolExecutionContext {
        tenant: tenant.to_owned(),
        user_id: user.to_owned(),
        actor,
        ..ToolExecutionContext::default()
    };
    for (tenant, user, actor, expected) in [
        ("t", "ann", Actor::Model, Runs),
        ("t", "bob", Actor::Model, Refused(PolicyDenied)),
        ("other", "ann", Actor::Model, Asks),
        ("t", "ann", Actor::Scheduler, Runs),
        ("t", "bob", Actor::Scheduler, Refused(PolicyDenied)),
        ("", "", Actor::Model, Asks),
    ] {
        let found = world.verdict("write", &context(tenant, user, actor), None, &json!({})).await;
        assert_eq!(found, expected, "{tenant} {user} {actor:?}");
    }
    let money = world.verdict("money", &context("t", "ann", Actor::Model), None, &json!({})).await;
    assert_eq!(money, Asks, "what nobody chose is as it was");
}

//! The first refusal is told, in the fixed order.

use serde_json::json;
use toolyard::{Decision, Effect, Policy, ToolExecutionContext, ToolNames, ToolSpec, Visibility};

use super::world::Verdict::Runs;
use super::world::{Before, World};

type Mend<T> = fn(&mut T);

/// One call that every gate refuses; what each of them minds is put right in turn.
#[tokio::test(start_paused = true)]
async fn the_first_refusal_is_told_in_the_fixed_order() {
    let mut spec = ToolSpec::new("act", "").with_parameters(json!({"type": "object", "required": ["n"]}));
    spec.withheld = Some("it has changed".to_owned());
    spec.visibility = Some(Visibility::Deferred);
    spec.flags.user_only = true;
    spec.flags.needs_source = true;
    spec.effect = Some(Effect::Money);
    let mut policy = Policy::default();
    policy.roles.insert("*".into(), ToolNames::default());
    policy.effects.model.money = Decision::Deny;
    let context = ToolExecutionContext::default();

    let steps: [(&str, Mend<ToolSpec>, Mend<Policy>); 7] = [
        ("withheld", |_| (), |_| ()),
        ("without a role", |spec| spec.withheld = None, |_| ()),
        ("not loaded", |_| (), |policy| policy.roles.clear()),
        ("only the user", |spec| spec.visibility = None, |_| ()),
        ("required", |spec| spec.flags.user_only = false, |_| ()),
        ("source of this call", |spec| spec.parameters_schema = json!({"type": "object"}), |_| ()),
        ("it moves money", |spec| spec.flags.needs_source = false, |_| ()),
    ];
    for (said, mend_tool, mend_policy) in steps {
        mend_tool(&mut spec);
        mend_policy(&mut policy);
        let world = World::new([("p", "test", vec![spec.clone()])]).await;
        world.registry.set_policy(policy.clone());
        let session = world.prepare(Before::Session).await;
        let arguments = json!({"source_message_id": "m"});
        let result = world.call_with("act", &arguments, &context, session.as_ref()).await;
        let refusal = result.error.unwrap();
        assert!(refusal.message.contains(said), "{said}: {}", refusal.message);
    }
    policy.effects.model.money = Decision::Allow;
    let world = World::new([("p", "test", vec![spec])]).await;
    world.registry.set_policy(policy);
    let session = world.prepare(Before::Session).await;
    assert_eq!(world.verdict("act", &context, session.as_ref(), &json!({})).await, Runs);
}

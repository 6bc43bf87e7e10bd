//! A session's profile stands in for what a context leaves empty, in lists and in calls alike.

use serde_json::json;
use toolyard::{
    ChatScope, DenyRule, ErrorCode, Locale, Policy, SceneRule, SessionProfile, ToolBatch, ToolExecutionContext,
    ToolNames, ToolSpec,
};

use super::world::Verdict::{Refused, Runs};
use super::world::{World, session};
use crate::fixture::{call_with, code_of};

#[tokio::test(start_paused = true)]
async fn listing_and_calling_see_the_same_profile() {
    let tool = |name: &str, change: fn(&mut ToolSpec)| {
        let mut spec = ToolSpec::new(name, "");
        change(&mut spec);
        spec
    };
    let world = World::new([(
        "p",
        "test",
        vec![
            tool("grouped", |spec| spec.scope.chats = Some(ChatScope::Group)),
            tool("on_qq", |spec| spec.scope.platforms = vec!["qq".to_owned()]),
            tool("guarded", |_| ()),
            tool("private_to_ann", |_| ()),
            tool("switched_off", |_| ()),
        ],
    )])
    .await;
    let mut policy = Policy::default();
    policy.roles.insert("owner".into(), ToolNames::all());
    policy.roles.insert("*".into(), ToolNames::new(["grouped", "on_qq", "private_to_ann", "switched_off"]));
    let mut not_ann = DenyRule::new(ToolNames::new(["private_to_ann"]));
    not_ann.user = Some("bob".into());
    policy.denied.push(not_ann);
    let mut scene = SceneRule::default();
    scene.denied = ToolNames::new(["switched_off"]);
    policy.scenes.insert("g1".into(), scene);
    world.registry.set_policy(policy);

    let key = session("t", "s");
    let empty = ToolExecutionContext::default();
    let verdict =
        async |tool: &str, context: &ToolExecutionContext| world.verdict(tool, context, Some(&key), &json!({})).await;
    let refused = Refused(ErrorCode::PolicyDenied);
    world.registry.sessions().open(&key, None).await;
    for tool in ["grouped", "on_qq", "guarded"] {
        assert_eq!(verdict(tool, &empty).await, refused, "{tool} without a profile");
    }
    let profile = SessionProfile {
        group_id: "g1".to_owned(),
        is_group_chat: true,
        platform: "qq".to_owned(),
        user_id: "ann".to_owned(),
        role: "owner".to_owned(),
        locale: Locale::Zh,
        ..SessionProfile::default()
    };
    world.registry.sessions().open(&key, Some(profile)).await;
    for (tool, expected) in
        [("grouped", Runs), ("on_qq", Runs), ("guarded", Runs), ("private_to_ann", Runs), ("switched_off", refused)]
    {
        assert_eq!(verdict(tool, &empty).await, expected, "{tool} with a profile");
    }
    let bob = ToolExecutionContext { user_id: "bob".to_owned(), ..ToolExecutionContext::default() };
    assert_eq!(verdict("guarded", &bob).await, refused, "ann's role is not bob's");
    assert_eq!(verdict("private_to_ann", &bob).await, refused);
    let elsewhere = ToolExecutionContext { group_id: "g2".to_owned(), ..ToolExecutionContext::default() };
    assert_eq!(verdict("switched_off", &elsewhere).await, Runs);
    let (_, said) = world.unlisted("switched_off", &empty, Some(&key)).unwrap();
    assert!(said.contains("当前不允许使用工具"), "in the session's language: {said}");

    let batch = |context: &ToolExecutionContext| {
        ToolBatch::new(vec![call_with("c", "guarded", &json!({}))])
            .with_session(key.clone())
            .with_context(std::sync::Arc::new(context.clone()))
    };
    assert!(world.registry.check(&batch(&empty)).remove(0).runs, "a dry run sees it too");
    let outcome = world.registry.dispatch(batch(&bob)).await;
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::PolicyDenied));
}

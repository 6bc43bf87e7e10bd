//! The preview: what a model would see of every tool, or the reason why not.

use serde_json::{Value, json};
use toolyard::{
    DefinitionForm, DenyRule, FunctionTool, Policy, PreviewState, PreviewedTool, ProviderSettings,
    ToolExecutionContext, ToolNames, ToolQuery, Visibility,
};

use crate::discovery::{deferred, session};
use crate::fixture::{Script, Start, provider, registry, saying, settings};

fn with(name: &str, change: impl FnOnce(&mut toolyard::ToolSpec)) -> FunctionTool {
    saying(name, "hi").map_spec(|mut spec| {
        change(&mut spec);
        spec
    })
}

#[tokio::test(start_paused = true)]
async fn every_tool_is_there_with_its_definition_or_its_reason_and_listing_agrees() {
    let registry = registry([
        with("plain", |spec| spec.description = "[插件 x] whole".to_owned()),
        deferred(saying("later", "hi"), "found later"),
        with("hidden", |spec| spec.visibility = Some(Visibility::Hidden)),
        with("personal", |spec| spec.flags.user_only = true),
        with("private", |spec| spec.scope.chats = Some(toolyard::ChatScope::Group)),
        with("withheld", |spec| spec.withheld = Some("it changed".to_owned())),
        with("denied", |_| ()),
        with("broken", |spec| spec.parameters_schema = json!({"type": "no type"})),
    ])
    .await;
    registry.register(provider("q", [saying("plain", "again")]), ProviderSettings::default()).await.unwrap();
    let down = Script::new("down", ["x"]).starts_with([Start::Fails]);
    down.launch(&registry, settings(|_| ())).await;
    let mut policy = Policy::default();
    let mut rule = DenyRule::new(ToolNames::new(["denied"]));
    rule.reason = Some("not in this house".to_owned());
    policy.denied.push(rule);
    registry.set_policy(policy);

    let (context, session) = (ToolExecutionContext::default(), session());
    let query = ToolQuery::of_session(&context, &session);
    let preview = registry.preview(query, DefinitionForm::OpenAiChat, None);
    let of = |name: &str| -> &PreviewedTool {
        preview.tools.iter().find(|tool| &*tool.model_name == name).unwrap_or_else(|| panic!("{name}: {preview:#?}"))
    };
    let plain = of("plain");
    assert_eq!((plain.state, &plain.reason, &*plain.provider), (PreviewState::Listed, &None, "p"));
    assert_eq!(plain.definition[0]["function"]["description"], "[插件 x] whole");
    let later = of("later");
    assert_eq!((later.state, &*later.summary), (PreviewState::Findable, "found later"));
    assert_eq!(later.reason.as_ref().unwrap().code.as_str(), "policy.not_loaded");
    assert_eq!(later.definition[0]["function"]["name"], "later");
    for (name, code, said) in [
        ("hidden", "policy.hidden", "hidden"),
        ("personal", "policy.user_only", "only the user"),
        ("private", "policy.denied", "not for private chats"),
        ("withheld", "policy.denied", "it changed"),
        ("denied", "policy.denied", "not in this house"),
    ] {
        let PreviewedTool { state, reason, .. } = of(name);
        let reason = reason.as_ref().unwrap();
        assert_eq!((*state, reason.code.as_str()), (PreviewState::Refused, code), "{name}");
        assert!(reason.message.contains(said), "{name}: {reason:?}");
    }
    let left: Vec<(&str, Option<&str>)> =
        preview.left_out.iter().map(|left| (&*left.provider, left.tool.as_deref())).collect();
    assert!(left.contains(&("p", Some("broken"))) && left.contains(&("q", Some("plain"))), "{left:?}");

    let listed: Vec<_> = registry.list_tools(query).iter().map(|tool| tool.model_name.to_string()).collect();
    let shown = preview.tools.iter().filter(|tool| tool.state == PreviewState::Listed);
    assert_eq!(shown.map(|tool| tool.model_name.to_string()).collect::<Vec<_>>(), listed);
    let catalogue: Vec<_> = preview.catalogue.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(catalogue, ["later"]);
    let document: Value = serde_json::to_value(&preview).unwrap();
    assert_eq!(document["tools"].as_array().unwrap().len(), preview.tools.len());
}

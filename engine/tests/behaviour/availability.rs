//! Which tools are shown, and to whom: listing and calling use the same gates.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::json;
use toolyard::CallStatus::{Denied, Unavailable, UnknownTool};
use toolyard::{Actor, FunctionTool, NameForm, ToolExecutionResult, ToolRegistry, Visibility};
use toolyard::{CallContext, Dialect, ErrorCode, FunctionProvider, InvokeResult, ProviderKind, Reason, ToolSpec};
use toolyard::{Limits, ToolAvailabilityContext, ToolExecutionContext, ToolFailure, ToolInvocation, ToolProvider};

use crate::fixture::{
    OK, Probe, batch, code_of, limits, provider, registry, registry_with, run, run_one, saying, settings,
};
use crate::fixture::{status_of, statuses};

/// Tools for group chats only.
struct GroupsOnly(Arc<FunctionProvider>);

impl ToolProvider for GroupsOnly {
    fn name(&self) -> &str {
        "groups"
    }

    fn kind(&self) -> ProviderKind {
        ProviderKind::new("test")
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        self.0.list_tools()
    }

    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Arc::clone(&self.0).invoke(invocation, context).boxed()
    }

    fn availability(&self, _tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
        (!context.is_group_chat).then(|| Reason("only in groups".to_owned()))
    }
}

fn names(registry: &ToolRegistry, context: &ToolExecutionContext) -> Vec<String> {
    registry.list_tools(context).iter().map(|tool| tool.model_name.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_not_available_in_a_chat_is_neither_listed_nor_run() {
    let registry = registry([saying("everywhere", "hi")]).await;
    let groups = GroupsOnly(provider("x", [saying("kick", "out")]));
    registry.register(Arc::new(groups), settings(|_| ())).await.unwrap();

    let private = Arc::new(ToolExecutionContext::default());
    assert_eq!(names(&registry, &private), ["everywhere"]);
    let outcome = registry.dispatch(batch(["kick", "everywhere"]).with_context(private)).await;
    assert_eq!(statuses(&outcome), [Unavailable, OK]);
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::ToolUnavailable));
    assert!(outcome.results[0].history_content().contains("only in groups"));

    let group = Arc::new(ToolExecutionContext { is_group_chat: true, ..ToolExecutionContext::default() });
    assert_eq!(names(&registry, &group), ["everywhere", "kick"]);
    assert_eq!(statuses(&registry.dispatch(batch(["kick"]).with_context(group)).await), [OK]);
}

#[tokio::test(start_paused = true)]
async fn disabled_tools_neither_appear_nor_run() {
    let off = settings(|settings| settings.disabled_tools = vec!["by_settings".to_owned()]);
    let by_spec = saying("by_spec", "hi").map_spec(|mut spec| {
        spec.enabled = false;
        spec
    });
    let registry =
        registry_with(Limits::default(), off, [saying("on", "hi"), saying("by_settings", "hi"), by_spec]).await;
    assert_eq!(names(&registry, &ToolExecutionContext::default()), ["on"]);
    assert_eq!(statuses(&run(&registry, ["on", "by_settings", "by_spec"]).await), [OK, UnknownTool, UnknownTool]);
    assert!(!registry.has_tool("by_spec") && registry.get_tool_spec("by_settings").is_none());
    assert!(status_of(&registry, "p").rejected.is_empty(), "disabled is not broken");
}

#[tokio::test(start_paused = true)]
async fn a_bad_schema_costs_only_its_tool_and_says_why() {
    let bad = saying("bad", "hi").map_spec(|spec| spec.with_parameters(json!({"type": "strin"})));
    let nameless = saying(" ", "hi");
    let registry = registry([saying("a", "hi"), bad, nameless, saying("a", "again"), saying("z", "hi")]).await;
    assert_eq!(names(&registry, &ToolExecutionContext::default()), ["a", "z"]);
    assert_eq!(run_one(&registry, "a").await.history_content(), "hi");
    let status = status_of(&registry, "p");
    let rejected: Vec<_> = status.rejected.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((rejected, status.tools), (vec!["bad", " ", "a"], 2));
    assert!(status.rejected[0].reason.contains("schema"), "{}", status.rejected[0].reason);
    assert!(status.rejected[2].reason.contains("twice"), "{}", status.rejected[2].reason);
}

#[tokio::test(start_paused = true)]
async fn the_first_of_equal_names_wins_and_the_other_is_shadowed() {
    let registry = ToolRegistry::new(limits(|_| ()));
    for (name, text) in [("first", "1"), ("second", "2")] {
        let tools = [saying("same", text), saying(&format!("only_{name}"), text)];
        registry.register(provider(name, tools), settings(|_| ())).await.unwrap();
    }
    assert_eq!(names(&registry, &ToolExecutionContext::default()), ["only_first", "only_second", "same"]);
    assert_eq!(run_one(&registry, "same").await.history_content(), "1");
    registry.unregister("first").await.unwrap();
    assert_eq!(run_one(&registry, "same").await.history_content(), "2");
}

#[tokio::test(start_paused = true)]
async fn every_listed_tool_can_be_called_by_its_listed_name() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let odd = ["plain", "with.dot", "with/dot", "查询天气", &"long".repeat(30)];
    for (name, form) in [("bare", NameForm::Bare), ("q.1", NameForm::Qualified)] {
        let tools = odd.map(|tool| saying(tool, &format!("{name} {tool}")));
        registry.register(provider(name, tools), settings(|settings| settings.name_form = form)).await.unwrap();
    }
    let context = ToolExecutionContext::default();
    let listed = registry.list_tools(&context);
    assert_eq!(listed.len(), 2 * odd.len());
    for tool in &listed {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!(tool.model_name.len() <= 64 && tool.model_name.chars().all(legal), "{}", tool.model_name);
        let said = run_one(&registry, &tool.model_name).await.history_content();
        assert_eq!(said, format!("{} {}", tool.spec.provider_name, tool.spec.name));
    }
    let definitions = registry.get_llm_definitions(&context, Dialect::OpenAiChat);
    let exported: Vec<_> = definitions.as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(exported, listed.iter().map(|tool| &*tool.model_name).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn what_only_people_may_use_is_hidden_from_models_and_schedulers_and_refused_to_them() {
    let tool = |name: &str, change: fn(&mut ToolSpec)| {
        let mut spec = ToolSpec::new(name, "");
        change(&mut spec);
        FunctionTool::new(spec, |_, _| std::future::ready(Ok(ToolExecutionResult::success("done"))))
    };
    let registry = registry([
        tool("unlock", |spec| spec.flags.user_only = true),
        tool("internal", |spec| spec.visibility = Some(Visibility::Hidden)),
        tool("search", |spec| spec.visibility = Some(Visibility::Deferred)),
    ])
    .await;
    for actor in [Actor::Model, Actor::Scheduler] {
        let context = Arc::new(ToolExecutionContext { actor, ..ToolExecutionContext::default() });
        assert_eq!(names(&registry, &context), ["search"]);
        let outcome = registry.dispatch(batch(["unlock", "internal", "search"]).with_context(context)).await;
        let codes: Vec<_> = outcome.results.iter().map(code_of).collect();
        assert_eq!(codes, [Some(ErrorCode::PolicyUserOnly), Some(ErrorCode::PolicyHidden), None]);
    }
    let person = Arc::new(ToolExecutionContext { actor: Actor::User, ..ToolExecutionContext::default() });
    let outcome = registry.dispatch(batch(["unlock", "internal"]).with_context(person)).await;
    assert_eq!(statuses(&outcome), [OK, OK]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_waits_for_approval_is_neither_listed_nor_run() {
    let probe = Probe::default();
    let watched = probe.clone();
    let send = FunctionTool::new(ToolSpec::new("send", ""), move |invocation, context| {
        drop(watched.enter(&invocation, &context));
        std::future::ready(Ok(ToolExecutionResult::success("sent")))
    });
    let send = send.map_spec(|mut spec| {
        spec.withheld = Some("its description has changed".to_owned());
        spec
    });
    let registry = registry([send, saying("other", "hi")]).await;
    let mut context = ToolExecutionContext::default();
    assert_eq!(names(&registry, &context), ["other"]);
    context.actor = Actor::User;
    assert_eq!(names(&registry, &context), ["other"]);

    let outcome = run(&registry, ["send", "other"]).await;
    assert_eq!(statuses(&outcome), [Denied, OK]);
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::PolicyDenied));
    assert!(outcome.results[0].history_content().contains("its description has changed"));
    assert_eq!(probe.entered(), 0);
}

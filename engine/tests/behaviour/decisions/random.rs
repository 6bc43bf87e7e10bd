//! Whatever is configured: listing and calling agree with each other and with a plain reading of the rules, and the first
//! refusal is told.

mod case;
mod oracle;

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use toolyard::{
    Actor, CallStatus, Decision, Executed, FunctionProvider, FunctionTool, Limits, ProviderKind, SessionKey, ToolBatch,
    ToolExecutionResult, ToolQuery, ToolRegistry, TurnStart,
};

use super::world::{message, session, turn};
use crate::fixture::{Probe, call_with, settings};
use case::{Case, PROVIDERS, cases};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn listing_and_calling_agree_with_the_rules(case in cases()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(hold(&case));
    }
}

async fn hold(case: &Case) {
    let probe = Probe::default();
    let registry = registry(case, &probe).await;
    let key = prepare(case, &registry).await;
    let listed = registry.list_tools(ToolQuery { context: &case.context, session: key.as_ref() });
    let left_out = registry.unavailable_tools(ToolQuery { context: &case.context, session: key.as_ref() });
    assert_eq!(listed.len() + left_out.len(), case.tools.len());

    let ids: Vec<String> = (0..case.tools.len()).map(|index| index.to_string()).collect();
    let mut arguments = json!({});
    if case.names_message {
        arguments["source_message_id"] = json!("m");
    }
    let calls = case.tools.iter().zip(&ids).map(|(tool, id)| call_with(id, tool.name, &arguments)).collect();
    let mut batch = ToolBatch::new(calls).with_context(Arc::new(case.context.clone()));
    batch.session = key;
    batch.all_loaded = case.all_loaded;
    let outcome = registry.dispatch(batch).await;
    let entered = probe.order();

    for (index, result) in outcome.results.iter().enumerate() {
        let tool = &case.tools[index];
        let told = result.error.as_ref().map(|error| error.message.to_string());
        let expected = oracle::calling(case, tool);
        let is_right = match (&told, expected) {
            (Some(told), Some(expected)) => told.contains(expected),
            (None, None) => true,
            _ => false,
        };
        assert!(is_right, "{}: {told:?} instead of {expected:?}", tool.name);
        let was_entered = entered.contains(&ids[index]);
        let ran = (Executed::Yes, CallStatus::Ok);
        assert_eq!(was_entered, expected.is_none());
        assert_eq!((result.executed, result.status) == ran, was_entered, "{result:?}");

        if was_entered && case.context.actor != Actor::User {
            assert!(
                !tool.spec.flags.user_only && tool.spec.effect.is_none_or(|_| decision(case, index) == Decision::Allow)
            );
        }
        if case.all_loaded {
            continue; // Lists know no such callers.
        }
        let reason = left_out.iter().find(|left| *left.tool.model_name == *tool.name);
        match (reason, oracle::listing(case, tool)) {
            (Some(left), Some(expected)) => assert!(left.reason.message.contains(expected), "{left:?}: {expected}"),
            (None, None) => assert!(listed.iter().any(|listed| *listed.model_name == *tool.name)),
            (reason, expected) => panic!("{}: listed {reason:?} instead of {expected:?}", tool.name),
        }
    }
}

fn decision(case: &Case, index: usize) -> Decision {
    oracle::decision(case, &case.tools[index])
}

async fn registry(case: &Case, probe: &Probe) -> ToolRegistry {
    let registry = ToolRegistry::new(Limits::default());
    for (index, (name, kind)) in PROVIDERS.into_iter().enumerate() {
        let mut provider = FunctionProvider::with_kind(name, ProviderKind::new(kind));
        for tool in case.tools.iter().filter(|tool| tool.provider == index) {
            let probe = probe.clone();
            provider.add_tool(FunctionTool::new(tool.spec.clone(), move |invocation, context| {
                drop(probe.enter(&invocation, &context));
                std::future::ready(Ok(ToolExecutionResult::success("done")))
            }));
        }
        registry.register(Arc::new(provider), settings(|_| ())).await.unwrap();
    }
    registry.set_policy(case.policy());
    registry
}

/// Brings the session into the state of the case, with another session beside it that has everything.
async fn prepare(case: &Case, registry: &ToolRegistry) -> Option<SessionKey> {
    let sessions = registry.sessions();
    let rich = session("other", "s");
    let all = case.tools.iter().map(|tool| Arc::from(tool.id())).collect();
    let all = toolyard::LoadedSet { tools: all, providers: PROVIDERS.map(|(name, _)| Arc::from(name)).into() };
    sessions.load(&rich, &all).await;
    sessions.begin_turn(&rich, TurnStart { id: turn("1"), messages: vec![message("m")] }).await.unwrap();
    let before = case.session.as_ref()?;
    let key = session("t", "s");
    let messages = before.message_in.map(|_| message("m")).into_iter().collect();
    let first = before.message_in.unwrap_or("1");
    sessions.begin_turn(&key, TurnStart { id: turn(first), messages }).await.unwrap();
    if first != "1" {
        sessions.begin_turn(&key, TurnStart { id: turn("1"), messages: Vec::new() }).await.unwrap();
    }
    sessions.load(&key, &before.loaded(case)).await;
    if before.tainted || before.stopped {
        let helper = case::helper(before.tainted, before.stopped);
        registry.register(helper, settings(|_| ())).await.unwrap();
        let policy = registry.policy();
        registry.set_policy(toolyard::Policy::default());
        let batch = ToolBatch::new(vec![call_with("c", "helper", &json!({}))]).with_session(key.clone());
        assert_eq!(registry.dispatch(batch).await.results[0].status, CallStatus::Ok);
        registry.set_policy(toolyard::Policy::clone(&policy));
        registry.unregister("helper").await.unwrap();
    }
    Some(key)
}

//! Ten thousand sessions at once, each with batches in flight: what one has read, found and finished is no other's.

use std::sync::Arc;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::json;
use toolyard::{
    CallStatus, Decision, Effect, ErrorCode, Limits, LoadedSet, Policy, SessionKey, ToolBatch, ToolExecutionResult,
    ToolRegistry, ToolSpec, Visibility,
};

use super::world::{session, turn};
use crate::fixture::{call_with, code_of, giving, provider, registry_with, settings};

const TENANTS: usize = 10;
const SESSIONS: usize = 1000;
const STEPS: usize = 8;
/// Tools that have to be found; each session finds some.
const DEEP: usize = 4;

/// What one session has done, as it should be.
#[derive(Default)]
struct Expected {
    turn: usize,
    is_tainted: bool,
    is_stopped: bool,
    found: [bool; DEEP],
}

async fn registry() -> ToolRegistry {
    let tool = |name: &str, change: fn(&mut ToolSpec), result: ToolExecutionResult| {
        giving(name, move || result.clone()).map_spec(|mut spec| {
            change(&mut spec);
            spec
        })
    };
    let done = ToolExecutionResult::success("done");
    let mut tools = vec![
        tool("write", |spec| spec.effect = Some(Effect::Write), done.clone()),
        tool("fetch", |spec| spec.flags.untrusted = true, done.clone()),
        tool("finish", |_| (), done.clone().stopping()),
    ];
    for n in 0..DEEP {
        let found = LoadedSet { tools: [Arc::from(format!("p.deep{n}"))].into(), ..LoadedSet::default() };
        tools.push(tool(&format!("find{n}"), |_| (), done.clone().loading(found)));
        tools.push(tool(&format!("deep{n}"), |spec| spec.visibility = Some(Visibility::Deferred), done.clone()));
    }
    let registry = registry_with(Limits::default(), settings(|_| ()), []).await;
    registry.register(provider("p", tools), settings(|_| ())).await.unwrap();
    let mut policy = Policy::default();
    policy.effects.model.write = Decision::Allow;
    registry.set_policy(policy);
    registry
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_sessions_keep_their_turns_taint_and_finds_to_themselves() {
    let registry = registry().await;
    let mut running = Vec::with_capacity(TENANTS * SESSIONS);
    for tenant in 0..TENANTS {
        for number in 0..SESSIONS {
            // The same names in every tenant.
            let key = session(&format!("t{tenant}"), &format!("s{number}"));
            let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed(tenant, number));
            running.push(tokio::spawn(live(registry.clone(), key, rng)));
        }
    }
    for session in running {
        session.await.unwrap();
    }
    assert_eq!(registry.sessions().len(), TENANTS * SESSIONS);
    let (tenants, sessions) = (0..TENANTS, 0..SESSIONS);
    let keys = tenants.flat_map(|t| sessions.clone().map(move |s| session(&format!("t{t}"), &format!("s{s}"))));
    let ended = futures::future::join_all(keys.map(|key| {
        let registry = registry.clone();
        async move { registry.sessions().end(&key).await.unwrap() }
    }))
    .await;
    assert!(ended.into_iter().all(|was_there| was_there));
    assert!(registry.sessions().is_empty());
}

fn seed(tenant: usize, number: usize) -> [u8; 32] {
    let mut seed = [7; 32];
    let place = (tenant * SESSIONS + number) as u64;
    seed[..8].copy_from_slice(&place.to_le_bytes());
    seed
}

/// The life of one session: steps taken by chance, each held against what it should come to.
async fn live(registry: ToolRegistry, key: SessionKey, mut rng: TestRng) {
    let mut expected = Expected { turn: 1, ..Expected::default() };
    for _ in 0..STEPS {
        step(&registry, &key, &mut rng, &mut expected).await;
        tokio::task::yield_now().await;
        let state = registry.sessions().state(&key).unwrap();
        let found: Vec<String> = (0..DEEP).filter(|n| expected.found[*n]).map(|n| format!("p.deep{n}")).collect();
        assert_eq!(state.loaded.tools.iter().map(ToString::to_string).collect::<Vec<_>>(), found, "{key:?}");
        assert_eq!((state.turn.tainted, state.turn.stopped), (expected.is_tainted, expected.is_stopped), "{key:?}");
    }
}

async fn step(registry: &ToolRegistry, key: &SessionKey, rng: &mut TestRng, expected: &mut Expected) {
    let n = rng.next_u32() as usize % DEEP;
    match rng.next_u32() % 10 {
        0 => {
            expected.turn += 1;
            (expected.is_tainted, expected.is_stopped) = (false, false);
        }
        1 => {
            // Unknown before its first batch.
            registry.sessions().unload_all(key).ok();
            expected.found = [false; DEEP];
        }
        _ => {}
    }
    let names: Vec<String> = (0..1 + rng.next_u32() % 3)
        .map(|_| match rng.next_u32() % 9 {
            0 | 1 => "fetch".to_owned(),
            2 | 3 => "write".to_owned(),
            4 => "finish".to_owned(),
            5 | 6 => format!("find{n}"),
            _ => format!("deep{n}"),
        })
        .collect();
    let calls = names.iter().enumerate().map(|(id, name)| call_with(&id.to_string(), name, &json!({}))).collect();
    let batch = ToolBatch::new(calls).with_session(key.clone()).with_turn(turn(&expected.turn.to_string()));
    let outcome = if rng.next_u32().is_multiple_of(2) {
        registry.dispatch(batch).await
    } else {
        registry.start(batch).await.unwrap().wait().await.unwrap()
    };
    // All calls of a batch are decided as of its start.
    for (name, result) in names.iter().zip(&outcome.results) {
        let code = if expected.is_stopped {
            Some(ErrorCode::PolicyDenied)
        } else if name == "write" && expected.is_tainted {
            Some(ErrorCode::PolicyApprovalRequired)
        } else if name.starts_with("deep") && !expected.found[n] {
            Some(ErrorCode::PolicyNotLoaded)
        } else {
            None
        };
        assert_eq!(code_of(result), code, "{key:?}: {name}");
        assert_eq!(result.status == CallStatus::Ok, code.is_none());
    }
    if expected.is_stopped {
        return;
    }
    for name in &names {
        expected.is_tainted |= name == "fetch";
        expected.found[n] |= name.starts_with("find");
    }
    expected.is_stopped = names.iter().any(|name| name == "finish");
}

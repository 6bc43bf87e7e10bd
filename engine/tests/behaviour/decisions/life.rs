//! The life of sessions: turns, taint, what is loaded, and what of it outlives what.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use toolyard::{
    CallStatus, Effect, ErrorCode, Limits, LoadedSet, MemoryStore, NoHost, ReceivedMessage, SessionKey, SessionProfile,
    SessionRecord, SessionStore, StoreError, ToolBatch, ToolExecutionContext, ToolExecutionResult, ToolRegistry,
    ToolSpec, TurnOver, TurnStart, Visibility,
};

use super::world::{message, session, turn};
use crate::fixture::{HOUR, call_with, code_of, giving, hanging, limits, ms, provider, settings};

/// `write` changes something, `fetch` reads third parties, `find` loads `deep`, which has to be found, and `finish` stops.
async fn registry(limits: Limits, store: Option<Arc<dyn SessionStore>>) -> ToolRegistry {
    let registry = ToolRegistry::with_store(limits, Arc::new(NoHost), store);
    let with = |name: &str, change: fn(&mut ToolSpec), make: fn() -> ToolExecutionResult| {
        giving(name, make).map_spec(|mut spec| {
            change(&mut spec);
            spec
        })
    };
    let done = || ToolExecutionResult::success("done");
    let tools = [
        with("write", |spec| spec.effect = Some(Effect::Write), done),
        with("fetch", |spec| spec.flags.untrusted = true, done),
        with("deep", |spec| spec.visibility = Some(Visibility::Deferred), done),
        with(
            "find",
            |_| (),
            || {
                let found = LoadedSet { tools: [Arc::from("p.deep")].into(), ..LoadedSet::default() };
                ToolExecutionResult::success("deep").loading(found)
            },
        ),
        with("ask", |spec| spec.flags.needs_source = true, done),
        with("finish", |_| (), || ToolExecutionResult::success("").stopping()),
    ];
    registry.register(provider("p", tools), settings(|_| ())).await.unwrap();
    let mut policy = toolyard::Policy::default();
    policy.effects.model.write = toolyard::Decision::Allow;
    registry.set_policy(policy);
    registry
}

async fn code(registry: &ToolRegistry, key: &SessionKey, tool: &str) -> Option<ErrorCode> {
    codes(registry, key, None, &[tool]).await.remove(0)
}

async fn codes(
    registry: &ToolRegistry,
    key: &SessionKey,
    in_turn: Option<&str>,
    tools: &[&str],
) -> Vec<Option<ErrorCode>> {
    let calls = tools.iter().map(|tool| call_with(tool, tool, &json!({}))).collect();
    let mut batch = ToolBatch::new(calls).with_session(key.clone());
    batch.turn = in_turn.map(turn);
    registry.dispatch(batch).await.results.iter().map(code_of).collect()
}

const NOT_LOADED: Option<ErrorCode> = Some(ErrorCode::PolicyNotLoaded);
const ASKS: Option<ErrorCode> = Some(ErrorCode::PolicyApprovalRequired);
const DENIED: Option<ErrorCode> = Some(ErrorCode::PolicyDenied);

#[tokio::test(start_paused = true)]
async fn what_a_batch_finds_can_be_called_from_the_next_one() {
    let registry = registry(Limits::default(), None).await;
    let key = session("t", "s");
    assert_eq!(codes(&registry, &key, None, &["deep", "find", "deep"]).await, [NOT_LOADED, None, NOT_LOADED]);
    assert_eq!(code(&registry, &key, "deep").await, None);
    assert_eq!(codes(&registry, &key, Some("another turn"), &["deep"]).await, [None], "turns do not matter");
    registry.sessions().unload_all(&key).unwrap();
    assert_eq!(code(&registry, &key, "deep").await, NOT_LOADED, "history was compacted");
}

#[tokio::test(start_paused = true)]
async fn a_turn_ends_taint_and_stop_and_a_past_one_is_over() {
    let registry = registry(Limits::default(), None).await;
    let key = session("t", "s");
    assert_eq!(codes(&registry, &key, Some("1"), &["write", "fetch", "write"]).await, [None, None, None]);
    assert_eq!(codes(&registry, &key, Some("1"), &["write"]).await, [ASKS], "the next batch is decided anew");
    assert_eq!(codes(&registry, &key, Some("1"), &["finish"]).await, [None]);
    assert_eq!(codes(&registry, &key, Some("1"), &["find"]).await, [DENIED]);
    assert_eq!(codes(&registry, &key, Some("2"), &["write"]).await, [None]);
    assert_eq!(codes(&registry, &key, Some("1"), &["find"]).await, [DENIED], "a late reply of the turn before");
    assert_eq!(codes(&registry, &key, Some("2"), &["write"]).await, [None], "has not brought it back");
    assert_eq!(codes(&registry, &key, None, &["write"]).await, [None]);
}

#[tokio::test(start_paused = true)]
async fn what_is_over_does_not_begin_again_and_media_begin_nothing() {
    let registry = registry(Limits::default(), None).await;
    let (key, sessions) = (session("t", "s"), registry.sessions());
    let start = |id: &str, messages| TurnStart { id: turn(id), messages };
    sessions.begin_turn(&key, start("1", vec![])).await.unwrap();
    assert_eq!(codes(&registry, &key, Some("1"), &["fetch"]).await, [None]);
    let made = ReceivedMessage { tool_result_media: true, ..message("picture") };
    let state = sessions.begin_turn(&key, start("2", vec![made.clone()])).await.unwrap();
    assert_eq!((state.turn.id, state.turn.tainted), (turn("1"), true), "nobody has said anything");
    let state = sessions.begin_turn(&key, start("2", vec![made, message("m")])).await.unwrap();
    assert_eq!((state.turn.id, state.turn.tainted), (turn("2"), false));
    sessions.begin_turn(&key, start("2", vec![message("more")])).await.unwrap();
    let refused = sessions.begin_turn(&key, start("1", vec![message("late")])).await.unwrap_err();
    assert_eq!(refused, TurnOver("1".to_owned()));
    assert_eq!(sessions.state(&key).unwrap().turn.id, turn("2"));
}

#[tokio::test(start_paused = true)]
async fn where_no_turn_begins_a_stop_stops_nothing_and_taint_stays() {
    let registry = registry(Limits::default(), None).await;
    let key = session("t", "s");
    assert_eq!(codes(&registry, &key, None, &["fetch", "finish"]).await, [None, None]);
    assert_eq!(codes(&registry, &key, None, &["find", "write"]).await, [None, ASKS]);
}

#[tokio::test(start_paused = true)]
async fn sessions_expire_by_time_unless_they_are_used() {
    let registry = registry(limits(|limits| limits.session_ttl = HOUR), None).await;
    let probe = crate::fixture::Probe::default();
    let hang = hanging("hang", &probe).map_spec(|spec| spec.with_timeout(5 * HOUR));
    registry.register(provider("q", [hang]), settings(|_| ())).await.unwrap();
    let [old, young, busy] = ["old", "young", "busy"].map(|name| session("t", name));
    for key in [&old, &young] {
        registry.sessions().open(key, None).await;
    }
    let batch = ToolBatch::new(vec![call_with("c", "hang", &json!({}))]).with_session(busy.clone());
    let handle = registry.start(batch).await.unwrap();
    tokio::time::sleep(HOUR / 2).await;
    assert_eq!(code(&registry, &young, "find").await, None);
    tokio::time::sleep(HOUR / 2 + ms(10)).await;
    registry.publish_metrics();
    let sessions = registry.sessions();
    assert_eq!((sessions.state(&old), sessions.len()), (None, 2));
    assert!(sessions.state(&young).unwrap().loaded.has_tool("p.deep") && sessions.state(&busy).is_some());
    drop(handle);
    registry.close(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn of_too_many_sessions_those_idle_longest_go() {
    let registry = registry(limits(|limits| limits.max_sessions = 100), None).await;
    for n in 0..1000 {
        registry.sessions().open(&session("t", &n.to_string()), None).await;
        tokio::time::sleep(ms(1)).await;
        assert!(registry.sessions().len() <= 100);
    }
    assert!(registry.sessions().state(&session("t", "999")).is_some(), "the newest stay");
    assert!(registry.sessions().state(&session("t", "0")).is_none());
    assert!(registry.sessions().len() > 80, "not more go than have to");
}

#[tokio::test(start_paused = true)]
async fn a_session_outlives_its_registry_and_its_place_in_memory_in_a_store() {
    let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
    let first = registry(Limits::default(), Some(Arc::clone(&store))).await;
    let key = session("t", "s");
    let profile = SessionProfile { role: "guest".to_owned(), ..SessionProfile::default() };
    first.sessions().open(&key, Some(profile.clone())).await;
    first.sessions().begin_turn(&key, TurnStart { id: turn("0"), messages: vec![message("past")] }).await.unwrap();
    let start = TurnStart { id: turn("1"), messages: vec![message("asked"), message("gone")] };
    first.sessions().begin_turn(&key, start).await.unwrap();
    assert_eq!(codes(&first, &key, Some("1"), &["find", "fetch"]).await, [None, None]);
    first.sessions().recall(&key, "gone").unwrap();
    let before = first.sessions().state(&key).unwrap();
    first.close(ms(10)).await;
    drop(first);

    let second = registry(limits(|limits| limits.session_ttl = HOUR), Some(store)).await;
    assert_eq!(second.sessions().state(&key), None);
    for round in ["after the restart", "after its time in memory"] {
        assert_eq!(codes(&second, &key, Some("1"), &["deep", "write"]).await, [None, ASKS], "{round}");
        assert_eq!(codes(&second, &key, Some("0"), &["find"]).await, [DENIED], "{round}: a past turn");
        for (id, expected) in [
            ("asked", None),
            ("gone", Some(ErrorCode::PolicySourceMessage)),
            ("past", Some(ErrorCode::PolicySourceMessage)),
        ] {
            let call = call_with("c", "ask", &json!({"source_message_id": id}));
            let outcome = second.dispatch(ToolBatch::new(vec![call]).with_session(key.clone())).await;
            assert_eq!(code_of(&outcome.results[0]), expected, "{round}: {id}");
        }
        assert_eq!(second.sessions().state(&key).unwrap(), before, "{round}");
        tokio::time::sleep(2 * HOUR).await;
        second.publish_metrics();
        assert_eq!(second.sessions().len(), 0);
    }
    second.sessions().end(&key).await.unwrap();
    assert_eq!(code(&second, &key, "deep").await, NOT_LOADED, "it was ended, in the store too");
}

/// A store that can be broken.
#[derive(Debug, Default)]
struct Moody {
    store: MemoryStore,
    is_broken: AtomicBool,
    saved: Mutex<Vec<SessionKey>>,
}

impl Moody {
    fn check(&self) -> Result<(), StoreError> {
        if self.is_broken.load(Ordering::SeqCst) { Err(StoreError("the disk is gone".to_owned())) } else { Ok(()) }
    }
}

impl SessionStore for Moody {
    fn load<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<SessionRecord>, StoreError>> {
        match self.check() {
            Ok(()) => self.store.load(key),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn save(&self, records: Vec<SessionRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        if let Err(error) = self.check() {
            return Box::pin(std::future::ready(Err(error)));
        }
        self.saved.lock().unwrap().extend(records.iter().map(|record| record.key.clone()));
        self.store.save(records)
    }

    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.remove(key)
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_read_taints_and_one_that_cannot_be_written_is_tried_again() {
    let store = Arc::new(Moody::default());
    let registry = registry(limits(|limits| limits.session_ttl = HOUR), Some(Arc::clone(&store) as _)).await;
    let [unread, unwritten] = ["unread", "unwritten"].map(|name| session("t", name));
    assert_eq!(code(&registry, &unwritten, "write").await, None);
    store.is_broken.store(true, Ordering::SeqCst);
    assert_eq!(code(&registry, &unread, "write").await, ASKS, "nobody knows what it has read");
    assert_eq!(code(&registry, &unread, "find").await, None, "everything else goes on");
    assert_eq!(code(&registry, &unwritten, "find").await, None);
    tokio::time::sleep(2 * HOUR).await;
    registry.publish_metrics();
    assert!(registry.sessions().state(&unwritten).is_some(), "what is not kept yet stays in memory");
    store.is_broken.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(store.saved.lock().unwrap().contains(&unwritten));
    registry.publish_metrics();
    assert_eq!(registry.sessions().len(), 0);
    assert_eq!(code(&registry, &unwritten, "deep").await, None);
}

#[tokio::test(start_paused = true)]
async fn ending_a_session_cancels_its_batches_and_forgets_it() {
    let registry = registry(Limits::default(), None).await;
    let probe = crate::fixture::Probe::default();
    registry.register(provider("q", [hanging("hang", &probe)]), settings(|_| ())).await.unwrap();
    let key = session("t", "s");
    assert_eq!(code(&registry, &key, "find").await, None);
    let batch = ToolBatch::new(vec![call_with("c", "hang", &json!({}))]).with_session(key.clone());
    let mut handle = registry.start(batch).await.unwrap();
    crate::fixture::until("it hangs", || probe.inside() == 1).await;
    assert_eq!(registry.sessions().end(&key).await, Ok(true));
    let outcome = handle.wait().await.unwrap();
    assert_eq!(outcome.results[0].status, CallStatus::Cancelled);
    assert_eq!(registry.sessions().state(&key), None);
    assert_eq!(registry.sessions().end(&key).await, Ok(false));
    let context = ToolExecutionContext::default();
    let query = toolyard::ToolQuery::of_session(&context, &key);
    assert!(registry.list_tools(query).iter().all(|tool| *tool.model_name != *"deep"));
}

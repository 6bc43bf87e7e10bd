//! Approvals outlive the process in a store: what is pending can be decided, what ran is never run again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use toolyard::CallStatus::{ApprovalRequired, Cancelled};
use toolyard::{
    ApprovalError, ApprovalId, ApprovalRecord, ApprovalState, ApprovalStore, ErrorCode, Limits, MemoryStore, NoHost,
    ProviderSettings, StoreError, Stores, ToolRegistry,
};

use super::{acting, ask, in_session, notice, pending, state_of, waiting_batch, writing};
use crate::fixture::{HOUR, OK, Probe, code_of, hanging, ms, provider, statuses, timed, until};

/// Keeps approvals in memory while it works.
#[derive(Debug, Default)]
struct Moody {
    kept: MemoryStore,
    fails: AtomicBool,
    hangs: AtomicBool,
}

// === impl Moody ===

impl Moody {
    fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    async fn mood(&self) -> Result<(), StoreError> {
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.fails.load(Ordering::SeqCst) { Err(StoreError("the disk is full".to_owned())) } else { Ok(()) }
    }

    async fn states(&self) -> Vec<ApprovalState> {
        let records = self.kept.load_all().await.unwrap();
        records.into_iter().map(|record| record.state).collect()
    }
}

impl ApprovalStore for Moody {
    fn load_all(&self) -> BoxFuture<'_, Result<Vec<ApprovalRecord>, StoreError>> {
        async {
            self.mood().await?;
            // As from a disk.
            let text = serde_json::to_string(&self.kept.load_all().await?).unwrap();
            Ok(serde_json::from_str(&text).unwrap())
        }
        .boxed()
    }

    fn save(&self, record: ApprovalRecord) -> BoxFuture<'_, Result<(), StoreError>> {
        async {
            self.mood().await?;
            ApprovalStore::save(&self.kept, record).await
        }
        .boxed()
    }

    fn forget<'a>(&'a self, id: &'a ApprovalId) -> BoxFuture<'a, Result<(), StoreError>> {
        async {
            self.mood().await?;
            self.kept.forget(id).await
        }
        .boxed()
    }
}

/// A life of the daemon, with tools `write` and `hang` that change something.
async fn life(store: &Arc<Moody>, probe: &Probe) -> ToolRegistry {
    let sessions: Arc<MemoryStore> = Arc::default();
    life_with(store, sessions, probe).await
}

async fn life_with(store: &Arc<Moody>, sessions: Arc<MemoryStore>, probe: &Probe) -> ToolRegistry {
    let stores = Stores { sessions: Some(sessions), approvals: Some(Arc::clone(store) as Arc<dyn ApprovalStore>) };
    let registry = ToolRegistry::with_stores(Limits::default(), Arc::new(NoHost), stores);
    let hang = acting(hanging("hang", probe));
    registry.register(provider("p", [writing("write", probe), hang]), ProviderSettings::default()).await.unwrap();
    registry
}

#[tokio::test(start_paused = true)]
async fn what_is_pending_is_decided_in_the_next_life_and_runs_once() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let registry = life(&store, &probe).await;
    let outcome = registry.dispatch(in_session(["write", "write", "write"])).await;
    let [first, second, third] = [0, 1, 2].map(|index| notice(&outcome, index).id.to_string());
    registry.approvals().deny(&second, "ann", Some("no")).await.unwrap();
    // Not closed: a crash.
    drop(registry);
    let registry = life(&store, &probe).await;
    let shown = registry.approvals().get(&first).await.unwrap();
    assert_eq!((shown.state, shown.arguments.as_str(), shown.title.as_str()), (ApprovalState::Pending, "{}", "write"));
    assert!(shown.expires_in_ms > 0 && shown.expires_in_ms <= 300_000);
    let denied = registry.approvals().get(&second).await.unwrap();
    assert_eq!((denied.state, denied.decision.unwrap().reason.as_deref()), (ApprovalState::Denied, Some("no")));
    registry.approvals().approve(&first, "ann").await.unwrap();
    let outcome = registry.approvals().outcome(&first).await.unwrap().outcome.unwrap();
    assert_eq!((outcome.status, probe.order()), (OK, vec!["c1".to_owned()]));
    registry.close(ms(0)).await;
    drop(registry);
    let registry = life(&store, &probe).await;
    let kept = registry.approvals().get(&first).await.unwrap();
    let kept_outcome = kept.outcome.unwrap();
    assert_eq!((kept.state, kept_outcome.document.as_str()), (ApprovalState::Settled, outcome.document.as_str()));
    assert_eq!((kept_outcome.text.as_str(), kept_outcome.result.is_none()), ("write", true));
    assert!(registry.approvals().approve(&first, "ann").await.is_err());
    assert_eq!(state_of(&registry, &third).await, ApprovalState::Pending);
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_ran_when_the_process_ended_is_reported_as_unknown_and_never_run_again() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let registry = life(&store, &probe).await;
    let id = ask(&registry, "hang").await;
    registry.approvals().approve(&id, "ann").await.unwrap();
    until("it runs", || probe.inside() == 1).await;
    assert_eq!(store.states().await, [ApprovalState::Started]);
    // A crash, as the store sees it: the first life writes nothing more.
    let crashed = Arc::new(Moody::default());
    for record in store.kept.load_all().await.unwrap() {
        ApprovalStore::save(&crashed.kept, record).await.unwrap();
    }
    let registry = life(&crashed, &probe).await;
    let over = registry.approvals().outcome(&id).await.unwrap();
    let outcome = over.outcome.unwrap();
    assert_eq!((over.state, outcome.status), (ApprovalState::Settled, Cancelled));
    assert!(outcome.document.as_str().contains(r#""executed":"unknown""#), "{}", outcome.document.as_str());
    let again = registry.approvals().approve(&id, "ann").await;
    assert_eq!(again, Err(ApprovalError::Decided(ApprovalState::Settled)));
    tokio::time::sleep(ms(2000)).await;
    assert_eq!(crashed.states().await, [ApprovalState::Settled], "it stays so");
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_whose_start_cannot_be_kept() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let registry = life(&store, &probe).await;
    let id = ask(&registry, "write").await;
    store.fail(true);
    let refused = registry.approvals().approve(&id, "ann").await;
    assert!(matches!(&refused, Err(ApprovalError::Store(error)) if error.0 == "the disk is full"), "{refused:?}");
    let shown = registry.approvals().get(&id).await.unwrap();
    assert_eq!((shown.state, shown.decision, probe.entered()), (ApprovalState::Pending, None, 0));
    store.fail(false);
    store.hangs.store(true, Ordering::SeqCst);
    let refused = registry.approvals().approve(&id, "ann").await;
    assert!(matches!(refused, Err(ApprovalError::Store(_))), "{refused:?}");
    assert_eq!((state_of(&registry, &id).await, probe.entered()), (ApprovalState::Pending, 0));
    store.hangs.store(false, Ordering::SeqCst);
    registry.approvals().approve(&id, "ann").await.unwrap();
    assert_eq!(registry.approvals().outcome(&id).await.unwrap().outcome.unwrap().status, OK);
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_cannot_be_kept_is_told_all_the_same_and_kept_later() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let registry = life(&store, &probe).await;
    let id = ask(&registry, "write").await;
    registry.approvals().approve(&id, "ann").await.unwrap();
    store.fail(true);
    assert_eq!(registry.approvals().outcome(&id).await.unwrap().outcome.unwrap().status, OK);
    assert_eq!(store.states().await, [ApprovalState::Started]);
    store.fail(false);
    tokio::time::sleep(ms(3000)).await;
    assert_eq!(store.states().await, [ApprovalState::Settled]);
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_could_not_be_kept_at_first_is_kept_later() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let registry = life(&store, &probe).await;
    store.fail(true);
    let id = ask(&registry, "write").await;
    assert_eq!(store.states().await, []);
    store.fail(false);
    tokio::time::sleep(ms(3000)).await;
    assert_eq!(store.states().await, [ApprovalState::Pending]);
    registry.approvals().approve(&id, "ann").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_decided_before_the_store_was_read() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let id = ask(&life(&store, &probe).await, "write").await;
    store.fail(true);
    let registry = life(&store, &probe).await;
    assert!(matches!(registry.approvals().get(&id).await, Err(ApprovalError::Store(_))));
    store.fail(false);
    registry.approvals().approve(&id, "ann").await.unwrap();
    registry.approvals().outcome(&id).await.unwrap();
    assert_eq!(probe.entered(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_waited_when_the_process_ended_waits_no_more() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let registry = life(&store, &probe).await;
    let waiting = registry.start(waiting_batch(["write"])).await.unwrap();
    let id = pending(&registry.approvals()).await.id;
    until("it is kept", || store.states().now_or_never().unwrap() == [ApprovalState::Pending]).await;
    let crashed = Arc::new(Moody::default());
    for record in store.kept.load_all().await.unwrap() {
        ApprovalStore::save(&crashed.kept, record).await.unwrap();
    }
    let next = life(&crashed, &probe).await;
    assert_eq!(state_of(&next, id.as_str()).await, ApprovalState::Withdrawn);
    // One that is stopped in good order says so itself.
    let ((), time) = timed(registry.close(HOUR)).await;
    assert_eq!(time, ms(0), "it waits for nobody");
    let outcome = waiting.outcome().await.unwrap();
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::CancelledShutdown));
    assert_eq!(store.states().await, [ApprovalState::Withdrawn]);
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_expired_meanwhile_has_expired_and_old_outcomes_are_forgotten_in_the_store_too() {
    let (store, probe) = (Arc::<Moody>::default(), Probe::default());
    let registry = life(&store, &probe).await;
    let id = ask(&registry, "write").await;
    drop(registry);
    let mut record = store.kept.load_all().await.unwrap().remove(0);
    let mut request = toolyard::ApprovalRequest::clone(&record.request);
    request.expires_at_ms = request.created_at_ms;
    record.request = Arc::new(request);
    ApprovalStore::save(&store.kept, record).await.unwrap();
    let registry = life(&store, &probe).await;
    assert_eq!(registry.approvals().approve(&id, "ann").await, Err(ApprovalError::Expired));
    tokio::time::sleep(std::time::Duration::from_secs(3700)).await;
    assert_eq!(store.states().await, []);
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_agreed_to_for_a_session_is_kept_with_it() {
    let (store, sessions, probe) = (Arc::<Moody>::default(), Arc::<MemoryStore>::default(), Probe::default());
    let registry = life_with(&store, Arc::clone(&sessions), &probe).await;
    let id = ask(&registry, "write").await;
    registry.approvals().approve_for_session(&id, "ann").await.unwrap();
    registry.approvals().outcome(&id).await.unwrap();
    registry.close(ms(0)).await;
    let registry = life_with(&store, sessions, &probe).await;
    assert_eq!(statuses(&registry.dispatch(in_session(["write"])).await), [OK]);
    let other = in_session(["write"]).with_session(super::session("other"));
    assert_eq!(statuses(&registry.dispatch(other).await), [ApprovalRequired]);
}

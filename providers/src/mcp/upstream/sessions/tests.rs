use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;

#[derive(Debug, Default)]
struct Stub {
    is_broken: AtomicBool,
    closes: AtomicUsize,
}

impl Session for Stub {
    fn is_over(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.closes.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

fn sessions(max: usize) -> Sessions<Stub> {
    Sessions::new(NonZeroUsize::new(max).unwrap(), Duration::from_secs(600))
}

async fn open() -> Result<Arc<Stub>, ToolFailure> {
    tokio::time::sleep(Duration::from_millis(10)).await;
    Ok(Arc::default())
}

#[tokio::test(start_paused = true)]
async fn tenants_never_share_a_session_and_each_is_opened_once() {
    let sessions = sessions(64);
    let (a, again, b) = tokio::join!(sessions.get("a", open), sessions.get("a", open), sessions.get("b", open));
    let (a, again, b) = (a.unwrap(), again.unwrap(), b.unwrap());
    assert!(Arc::ptr_eq(a.session(), again.session()) && !Arc::ptr_eq(a.session(), b.session()));
    assert_eq!(sessions.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_or_fails_leaves_no_place_taken() {
    let sessions = sessions(1);
    let gave_up = tokio::time::timeout(Duration::from_millis(1), sessions.get("a", std::future::pending)).await;
    assert!(gave_up.is_err());
    let failed = sessions.get("a", || async { Err(closed()) }).await;
    assert!(failed.is_err());
    assert!(sessions.get("b", open).await.is_ok(), "the only place is free");
    let full = sessions.get("c", open).await.err().unwrap();
    assert_eq!(full.code, ErrorCode::LimitInFlight);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_closed_when_it_is_idle_and_not_before() {
    let sessions = sessions(64);
    let lease = sessions.get("a", open).await.unwrap();
    let session = Arc::clone(lease.session());
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(session.closes.load(Ordering::SeqCst), 0, "it is in use");
    drop(lease);
    tokio::time::sleep(Duration::from_secs(590)).await;
    assert_eq!(sessions.all().len(), 1);
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!((sessions.all().len(), session.closes.load(Ordering::SeqCst)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_broken_session_is_replaced_for_its_own_tenant_only() {
    let sessions = sessions(64);
    let (a, b) = (sessions.get("a", open).await.unwrap(), sessions.get("b", open).await.unwrap());
    a.session().is_broken.store(true, Ordering::SeqCst);
    let (fresh, same) = (sessions.get("a", open).await.unwrap(), sessions.get("b", open).await.unwrap());
    assert!(!Arc::ptr_eq(a.session(), fresh.session()) && Arc::ptr_eq(b.session(), same.session()));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(a.session().closes.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn closing_closes_all_and_what_is_opened_meanwhile() {
    let sessions = Arc::new(sessions(64));
    let lease = sessions.get("a", open).await.unwrap();
    let late: Arc<Stub> = Arc::default();
    let (waiting, opened) = (Arc::clone(&sessions), Arc::clone(&late));
    let waiting = tokio::spawn(async move {
        let open = || async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(opened)
        };
        waiting.get("b", open).await.err()
    });
    tokio::time::sleep(Duration::from_millis(1)).await;
    sessions.close().await;
    assert_eq!(lease.session().closes.load(Ordering::SeqCst), 1);
    assert_eq!(waiting.await.unwrap().unwrap().code, ErrorCode::ProviderDown);
    assert_eq!(late.closes.load(Ordering::SeqCst), 1);
    assert!(sessions.get("c", open).await.is_err());
}

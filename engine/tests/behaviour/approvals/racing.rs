//! Whoever decides at the same time as others: one is first, and the call runs once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolyard::{FunctionTool, ToolRegistry};

use super::{acting, in_session, notice, pending, waiting_batch};
use crate::fixture::{OK, registry, statuses};

fn counting(count: &Arc<AtomicUsize>) -> FunctionTool {
    let count = Arc::clone(count);
    let tool = FunctionTool::from_fn("write", "", move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok("done".to_owned()) }
    });
    acting(tool)
}

/// How many of these decide at once, and whether each succeeds.
async fn decide_at_once(registry: &ToolRegistry, id: &str) -> usize {
    let start = Arc::new(tokio::sync::Barrier::new(3));
    let deciders = (0..3).map(|place| {
        let (approvals, id, start) = (registry.approvals(), id.to_owned(), Arc::clone(&start));
        tokio::spawn(async move {
            start.wait().await;
            match place {
                0 => approvals.approve(&id, "ann").await.is_ok(),
                1 => approvals.approve_for_session(&id, "bob").await.is_ok(),
                _ => approvals.deny(&id, "eve", None).await.is_ok(),
            }
        })
    });
    let decided = futures::future::join_all(deciders.collect::<Vec<_>>()).await;
    decided.into_iter().filter(|decided| *decided.as_ref().unwrap()).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_decide_at_once_one_succeeds_and_the_call_runs_at_most_once() {
    let (count, mut ran) = (Arc::new(AtomicUsize::new(0)), 0);
    let registry = registry([counting(&count)]).await;
    for round in 0..500 {
        let batch = in_session(["write"]).with_session(super::session(&round.to_string()));
        let outcome = registry.dispatch(batch).await;
        let id = notice(&outcome, 0).id.to_string();
        assert_eq!(decide_at_once(&registry, &id).await, 1);
        let over = registry.approvals().outcome(&id).await.unwrap();
        ran += usize::from(over.outcome.unwrap().status == OK);
        assert_eq!(count.load(Ordering::SeqCst), ran, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_batch_that_is_cancelled_while_somebody_approves_tells_the_truth() {
    let count = Arc::new(AtomicUsize::new(0));
    let registry = registry([counting(&count)]).await;
    for round in 0..500 {
        let before = count.load(Ordering::SeqCst);
        let handle = registry.start(waiting_batch(["write"])).await.unwrap();
        let id = pending(&registry.approvals()).await.id;
        let approvals = registry.approvals();
        let approving = tokio::spawn(async move { approvals.approve(id.as_str(), "ann").await.is_ok() });
        for _ in 0..round % 50 {
            std::hint::spin_loop();
        }
        handle.cancel();
        let outcome = handle.outcome().await.unwrap();
        let approved = approving.await.unwrap();
        let ran = count.load(Ordering::SeqCst) - before;
        let result = &outcome.results[0];
        match result.executed {
            toolyard::Executed::Yes => assert_eq!((ran, statuses(&outcome)), (1, vec![OK])),
            toolyard::Executed::No => assert_eq!(ran, 0, "round {round}, approved {approved}"),
            toolyard::Executed::Unknown => assert!(ran <= 1),
        }
    }
}

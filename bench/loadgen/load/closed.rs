//! The closed loop: each session sends a batch, waits for its outcome, thinks, and sends the next.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, sleep, sleep_until};

use super::Load;
use crate::target::Work;

/// Starts every session that there is at any time.
pub(super) fn run(load: &Arc<Load>, tasks: &mut JoinSet<()>) {
    for session in 0..load.sessions {
        tasks.spawn(one(Arc::clone(load), session));
    }
}

async fn one(load: Arc<Load>, session: u32) {
    let mut random = load.random(u64::from(session) + 1);
    let mut work = Work::default();
    let stop = &load.stop.begun;
    loop {
        let now = load.start.elapsed();
        let Some(begins) = load.timeline.above(f64::from(session), now) else { return };
        if begins > now && stop.run_until_cancelled(sleep_until(load.start + begins)).await.is_none() {
            return;
        }
        if stop.is_cancelled() {
            return;
        }
        load.deck.deal(&mut random, &mut work.hand);
        load.send(session, Instant::now(), &mut work).await;
        // A batch whose calls never wait would keep this thread from everybody else.
        consume_budget().await;
        if !load.think.is_zero() && stop.run_until_cancelled(sleep(load.think)).await.is_none() {
            return;
        }
    }
}

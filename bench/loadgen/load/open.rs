//! The open loop: batches are sent when they are due, whatever became of earlier ones, up to a bound on those under way.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;
use tokio::task::coop::consume_budget;
use tokio::time::Instant;

use super::arrivals::Schedule;
use super::pace::Pace;
use super::{Load, Work};

/// Places for batches under way, each with room that is used again.
#[derive(Debug)]
struct Places {
    free: Mutex<Vec<Work>>,
}

/// Begins batches until the schedule ends.
pub(super) async fn run(load: &Arc<Load>, tasks: &mut JoinSet<()>) {
    #[cfg(not(test))]
    let pace = Pace::precise();
    #[cfg(test)]
    let pace = Pace::coarse();
    let places = Arc::new(Places::new(load.max_outstanding));
    let mut random = load.random(0);
    let schedule = Schedule::new(load.timeline.clone(), load.arrivals, random.u64(..));
    for (number, due) in schedule.enumerate() {
        let due = load.start + due;
        if due > Instant::now() && load.stop.begun.run_until_cancelled(pace.until(due)).await.is_none() {
            return;
        }
        if load.stop.begun.is_cancelled() {
            return;
        }
        while tasks.try_join_next().is_some() {}
        // Where arrivals are overdue, those that were sent must have their turn too.
        consume_budget().await;
        let Some(mut work) = places.take() else {
            load.recording.not_sent(due);
            continue;
        };
        load.deck.deal(&mut random, &mut work.hand);
        let session = (number % load.sessions.max(1) as usize) as u32;
        tasks.spawn(one(Arc::clone(load), Arc::clone(&places), session, due, work));
    }
}

async fn one(load: Arc<Load>, places: Arc<Places>, session: u32, due: Instant, mut work: Work) {
    load.send(session, due, &mut work).await;
    places.give_back(work);
}

// === impl Places ===

impl Places {
    fn new(places: usize) -> Self {
        Self { free: Mutex::new((0..places).map(|_| Work::default()).collect()) }
    }

    fn take(&self) -> Option<Work> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, work: Work) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(work);
    }
}

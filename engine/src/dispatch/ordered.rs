//! Ordered: the calls of a batch that run one after another.

use std::collections::VecDeque;
use std::sync::Arc;

use super::RunningBatch;
use super::settled::Settled;
use crate::registry::ProviderHandle;

/// The calls of a batch that run one after another, in call order, beside all others.
#[derive(Default)]
pub(super) struct Ordered {
    waiting: VecDeque<Waiting>,
    /// The one that runs.
    head: Option<usize>,
}

struct Waiting {
    place: usize,
    /// An incarnation that is replaced finishes the calls that wait for their turn too.
    _visit: Option<Visit>,
}

/// Counts as a call in flight.
struct Visit(Arc<ProviderHandle>);

// === impl Ordered ===

impl Ordered {
    /// The first one may start at once.
    pub(super) fn of(batch: &RunningBatch) -> Self {
        let mut places = (0..batch.admitted.len()).filter(|place| batch.admitted[*place].is_ordered);
        let head = places.next();
        let visit = |place| {
            let handle = &batch.tool(place).handle;
            handle.enter(batch.context.locale).ok().map(|()| Visit(Arc::clone(handle)))
        };
        let waiting: VecDeque<Waiting> = places.map(|place| Waiting { place, _visit: visit(place) }).collect();
        if !waiting.is_empty() {
            batch.outbox.be_eager();
        }
        Self { waiting, head }
    }

    /// Whether the call is not to be started yet.
    pub(super) fn waits(&self, place: usize) -> bool {
        !self.waiting.is_empty() && self.waiting.iter().any(|waiting| waiting.place == place)
    }

    /// The call whose turn it is, if the one before has settled. What settled while it waited was left out before.
    pub(super) fn next(&mut self, slots: &[Option<Settled>]) -> Option<usize> {
        let is_settled = |place: usize| slots.get(place).is_none_or(Option::is_some);
        if self.head.is_some_and(|head| !is_settled(head)) {
            return None;
        }
        self.head = None;
        self.waiting.front().map(|waiting| waiting.place)
    }

    /// The call runs: what it held while it waited is given back.
    pub(super) fn started(&mut self, place: usize) {
        self.left(place);
        self.head = Some(place);
    }

    /// The call does not wait any more.
    pub(super) fn left(&mut self, place: usize) {
        if !self.waiting.is_empty() {
            self.waiting.retain(|waiting| waiting.place != place);
        }
    }
}

// === impl Visit ===

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.leave();
    }
}

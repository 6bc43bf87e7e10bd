//! Sharded: one value for each worker, so that no two cores write to the same cache line.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many shards there are; more workers than this share some.
const SHARDS: usize = 8;

/// One value for each worker.
#[derive(Debug, Default)]
pub(super) struct Sharded<T> {
    shards: [Shard<T>; SHARDS],
}

/// Alone on its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard<T>(T);

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Threads take shards in turn, at their first use.
    static MINE: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
}

// === impl Sharded ===

impl<T> Sharded<T> {
    /// The value of the current thread.
    pub(super) fn mine(&self) -> &T {
        &self.shards[MINE.get()].0
    }

    pub(super) fn each(&self, visit: impl FnMut(&T)) {
        self.shards.iter().map(|shard| &shard.0).for_each(visit);
    }
}

//! Sharded: one value for each worker, so that no two cores write to the same cache line.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Shards that one thread has to itself for as long as it lives.
const OWNED: usize = 8;

/// One value for each of the first threads, and one for all others.
#[derive(Debug, Default)]
pub(crate) struct Sharded<T>([Shard<T>; OWNED + 1]);

/// Alone on its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard<T>(T);

/// Copies of something that every call shares, one for each worker, made at its first use: cores that count references in
/// one place wait for each other.
#[derive(Debug)]
pub(crate) struct Copies<T>([OnceLock<T>; OWNED + 1]);

/// How the current thread writes to a shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    is_alone: bool,
}

/// A count that only goes up. Whoever is its only writer needs no locked instruction, which costs more than the rest of
/// the counting.
#[derive(Debug, Default)]
pub(crate) struct Tally(AtomicU64);

/// The shards that threads own, a bit each.
static TAKEN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static MINE: Claim = Claim::new();
}

/// A thread's own shard, given back when the thread ends.
struct Claim(Cell<Option<usize>>);

// === impl Sharded ===

impl<T> Sharded<T> {
    /// The value of the current thread, and how to write to it.
    #[inline]
    pub(crate) fn mine(&self) -> (&T, Writer) {
        let place = my_place();
        (&self.0[place].0, Writer { is_alone: place < OWNED })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &T> + Clone {
        self.0.iter().map(|shard| &shard.0)
    }
}

/// The last place is that of all threads that own none.
#[inline]
fn my_place() -> usize {
    // A thread that is ending owns none any more.
    MINE.try_with(|claim| claim.0.get()).unwrap_or(None).unwrap_or(OWNED)
}

// === impl Copies ===

impl<T> Default for Copies<T> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; OWNED + 1])
    }
}

impl<T> Copies<T> {
    /// The copy of the current thread.
    #[inline]
    pub(crate) fn mine(&self, make: impl FnOnce() -> T) -> &T {
        self.0[my_place()].get_or_init(make)
    }
}

// === impl Tally ===

impl Tally {
    #[inline]
    pub(crate) fn add(&self, writer: Writer, more: u64) {
        if writer.is_alone {
            self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        } else {
            self.0.fetch_add(more, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

// === impl Claim ===

impl Claim {
    fn new() -> Self {
        let free = |taken: u64| (0..OWNED).find(|place| taken & (1 << place) == 0);
        let claimed = TAKEN
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| free(taken).map(|place| taken | (1 << place)));
        Self(Cell::new(claimed.ok().and_then(free)))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            TAKEN.fetch_and(!(1 << place), Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn more_threads_than_shards_lose_no_count() {
        let tallies = Sharded::<Tally>::default();
        thread::scope(|scope| {
            for _ in 0..3 * OWNED {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let (tally, writer) = tallies.mine();
                        tally.add(writer, 1);
                    }
                });
            }
        });
        assert_eq!(tallies.all().map(Tally::get).sum::<u64>(), 3 * OWNED as u64 * 1000);
    }

    #[test]
    fn a_thread_that_ends_leaves_its_shard_to_the_next() {
        let alone = || {
            let tallies = Sharded::<Tally>::default();
            tallies.mine().1.is_alone
        };
        // Other tests may hold some of them for a while; never all of them for long.
        let mut seen = 0;
        for _ in 0..100 * OWNED {
            seen += usize::from(thread::spawn(alone).join().unwrap());
        }
        assert!(seen > OWNED, "{seen}");
    }
}

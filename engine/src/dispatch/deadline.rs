//! Deadline: until when a call may take, whose own time may begin later than its batch's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Time that no clock overflows on: about a century.
pub(super) const FAR: Duration = Duration::from_secs(3_000_000_000);

/// Until when a call may take: its own time, as soon as that runs, within its batch's.
#[derive(Debug)]
pub(crate) struct Deadline {
    /// The start of the batch.
    base: Instant,
    /// The end of the batch's own time.
    batch: Option<Instant>,
    /// When the call's own time began, in nanoseconds since `base`.
    begun: AtomicU64,
    /// When it ends, in nanoseconds since `base`.
    ends: AtomicU64,
}

// === impl Deadline ===

impl Deadline {
    /// A call whose own time runs from the start of its batch.
    pub(super) fn running(base: Instant, batch: Option<Instant>, timeout: Duration) -> Self {
        let deadline = Self::waiting(base, batch);
        deadline.start_at(base, timeout);
        deadline
    }

    /// A call whose own time has not begun: only its batch's holds.
    pub(super) fn waiting(base: Instant, batch: Option<Instant>) -> Self {
        let ends = batch.map_or(FAR, |end| end.duration_since(base).min(FAR));
        Self { base, batch, begun: AtomicU64::new(0), ends: AtomicU64::new(nanos(ends)) }
    }

    /// The call's own time begins.
    pub(super) fn start_at(&self, now: Instant, timeout: Duration) {
        let begun = now.duration_since(self.base).min(FAR);
        let own = begun.saturating_add(timeout.min(FAR));
        let ends = self.batch.map_or(own, |end| own.min(end.duration_since(self.base)));
        self.begun.store(nanos(begun), Ordering::Relaxed);
        self.ends.store(nanos(ends), Ordering::Release);
    }

    /// When the call is given up.
    pub(crate) fn get(&self) -> Instant {
        let after = Duration::from_nanos(self.ends.load(Ordering::Acquire));
        self.base.checked_add(after).unwrap_or(self.base)
    }

    /// How long the call had.
    pub(super) fn length(&self) -> Duration {
        let ends = self.ends.load(Ordering::Acquire);
        Duration::from_nanos(ends.saturating_sub(self.begun.load(Ordering::Relaxed)))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calls_own_time_begins_when_told_and_ends_with_its_batch() {
        let base = Instant::now();
        let seconds = Duration::from_secs;
        let alone = Deadline::waiting(base, None);
        assert!(alone.get() >= base + FAR);
        alone.start_at(base + seconds(5), seconds(3));
        assert_eq!((alone.get(), alone.length()), (base + seconds(8), seconds(3)));
        let within = Deadline::waiting(base, Some(base + seconds(7)));
        assert_eq!(within.get(), base + seconds(7));
        within.start_at(base + seconds(5), seconds(3));
        assert_eq!((within.get(), within.length()), (base + seconds(7), seconds(2)));
    }

    #[test]
    fn the_longest_times_overflow_nothing() {
        let base = Instant::now();
        let far = Deadline::running(base, None, Duration::MAX);
        assert!(far.get() > base);
        far.start_at(base + FAR, Duration::MAX);
        assert!(far.get() > base + FAR);
    }
}

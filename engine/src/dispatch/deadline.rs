//! Deadline: until when a call may take, whose own time may begin later than its batch's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::clock::Moment;

/// Until when a call may take: its own time, as soon as that runs, within its batch's.
#[derive(Debug)]
pub(crate) struct Deadline {
    /// When the call's own time began, in nanoseconds of the batch's clock.
    begun: AtomicU64,
    /// When its time is up.
    ends: AtomicU64,
}

// === impl Deadline ===

impl Deadline {
    /// A call whose own time runs from the start of its batch, which ends at `batch_ends`.
    pub(super) fn running(batch_ends: Moment, timeout: Duration) -> Self {
        Self::new(batch_ends.min(Moment::after(timeout)))
    }

    /// A call whose own time has not begun: only its batch's holds.
    pub(super) fn waiting(batch_ends: Moment) -> Self {
        Self::new(batch_ends)
    }

    fn new(ends: Moment) -> Self {
        Self { begun: AtomicU64::new(0), ends: AtomicU64::new(ends.nanos()) }
    }

    /// The call's own time begins.
    pub(super) fn start_at(&self, now: Moment, batch_ends: Moment, timeout: Duration) {
        let begun = now.min(Moment::FAR);
        // A batch without an end of its own ends long after whatever begins in it.
        let ends = if batch_ends < Moment::FAR { batch_ends.min(begun.plus(timeout)) } else { begun.plus(timeout) };
        self.begun.store(begun.nanos(), Ordering::Relaxed);
        self.ends.store(ends.nanos(), Ordering::Release);
    }

    /// When the call is given up.
    pub(super) fn get(&self) -> Moment {
        Moment::from_nanos(self.ends.load(Ordering::Acquire))
    }

    /// How long the call had.
    pub(super) fn length(&self) -> Duration {
        self.get().since(Moment::from_nanos(self.begun.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after(Duration::from_secs(seconds))
    }

    #[test]
    fn a_calls_own_time_begins_when_told_and_ends_with_its_batch() {
        let seconds = Duration::from_secs;
        let alone = Deadline::waiting(Moment::FAR);
        assert_eq!(alone.get(), Moment::FAR);
        alone.start_at(at(5), Moment::FAR, seconds(3));
        assert_eq!((alone.get(), alone.length()), (at(8), seconds(3)));
        let within = Deadline::waiting(at(7));
        assert_eq!(within.get(), at(7));
        within.start_at(at(5), at(7), seconds(3));
        assert_eq!((within.get(), within.length()), (at(7), seconds(2)));
        assert_eq!(Deadline::running(at(7), seconds(3)).get(), at(3));
        assert_eq!(Deadline::running(at(7), seconds(30)).get(), at(7));
    }

    #[test]
    fn the_longest_times_overflow_nothing() {
        let far = Deadline::running(Moment::FAR, Duration::MAX);
        assert_eq!(far.get(), Moment::FAR);
        far.start_at(Moment::FAR, Moment::FAR, Duration::MAX);
        assert!(far.get() > Moment::FAR);
    }
}

//! Clock: the time of one batch, in nanoseconds since its start.
//!
//! A moment is half as large as an [`Instant`], and reckoning with it is one instruction; a call is told a dozen times what
//! the time is.

use std::time::Duration;

use tokio::time::Instant;

/// Time that no clock overflows on: about a century.
pub(super) const FAR: Duration = Duration::from_secs(3_000_000_000);

/// The clock of one batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
}

/// When something happens in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

// === impl Clock ===

impl Clock {
    /// Starts with the batch.
    pub(super) fn new(started: Instant) -> Self {
        Self { started }
    }

    pub(super) fn started(self) -> Instant {
        self.started
    }

    #[inline]
    pub(super) fn now(self) -> Moment {
        Moment(nanos(Instant::now().duration_since(self.started)))
    }

    /// The same moment for whoever knows nothing of the batch.
    pub(super) fn instant(self, moment: Moment) -> Instant {
        self.started.checked_add(moment.elapsed()).unwrap_or(self.started)
    }
}

// === impl Moment ===

impl Moment {
    /// Later than anything that happens.
    pub(super) const FAR: Self = Self(FAR.as_secs() * 1_000_000_000);

    /// This long after the start; at most [`Moment::FAR`].
    pub(super) fn after(time: Duration) -> Self {
        Self(nanos(time.min(FAR)))
    }

    /// The moment this much later.
    pub(super) fn plus(self, time: Duration) -> Self {
        Self(self.0.saturating_add(nanos(time.min(FAR))))
    }

    /// Since the start of the batch.
    pub(crate) fn elapsed(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Since an earlier moment.
    pub(super) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// The same in nanoseconds.
    pub(crate) fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    pub(super) const fn nanos(self) -> u64 {
        self.0
    }

    pub(super) const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }
}

fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(time.subsec_nanos()))
}

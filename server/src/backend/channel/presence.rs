//! Presence: whether anybody is there to take requests.

use std::time::Duration;

use tokio::time::Instant;

/// Whoever polls counts as there for so long after each poll.
const POLL_GAP: Duration = Duration::from_secs(10);

/// Whether anybody is there to take requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Here,
    /// Nobody since then; a moment to come where somebody who polls may come back until then.
    Gone(Instant),
}

/// Who is there.
#[derive(Debug)]
pub(super) struct Attendance {
    streams: usize,
    polls: usize,
    gone: Instant,
}

// === impl Presence ===

impl Presence {
    /// Until when a request that has patience until `patience` waits for somebody; nothing while somebody is there.
    pub(super) fn until(self, patience: Instant) -> Option<Instant> {
        match self {
            Self::Here => None,
            Self::Gone(since) => Some(since.max(patience)),
        }
    }
}

// === impl Attendance ===

impl Attendance {
    pub(super) fn presence(&self) -> Presence {
        if self.streams + self.polls > 0 { Presence::Here } else { Presence::Gone(self.gone) }
    }

    pub(super) fn streams(&self) -> usize {
        self.streams
    }

    pub(super) fn stream_came(&mut self) {
        self.streams += 1;
    }

    pub(super) fn stream_left(&mut self) {
        self.streams = self.streams.saturating_sub(1);
        self.gone = self.gone.max(Instant::now());
    }

    pub(super) fn poll_started(&mut self) {
        self.polls += 1;
    }

    pub(super) fn poll_ended(&mut self) {
        self.polls = self.polls.saturating_sub(1);
        self.gone = self.gone.max(Instant::now() + POLL_GAP);
    }
}

impl Default for Attendance {
    fn default() -> Self {
        Self { streams: 0, polls: 0, gone: Instant::now() }
    }
}

//! Cached reads: results of tools that only read, shared among callers for a while.

mod canonical;
mod flight;
mod kept;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::registry::PreparedTool;
use crate::result::CallResult;

pub(crate) use canonical::canonical;
use flight::Flights;
pub(crate) use flight::Seat;
use kept::Kept;

/// What a read is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReadKey {
    pub(crate) tenant: Box<str>,
    pub(crate) user: Box<str>,
    pub(crate) tool_id: Box<str>,
    /// In canonical form.
    pub(crate) input: Box<str>,
}

/// Results that are shared, and the runs under way that will give some.
#[derive(Debug)]
pub(crate) struct CachedReads(Mutex<State>);

#[derive(Debug)]
struct State {
    kept: Kept,
    flights: Flights,
}

/// How a caller gets a read.
pub(crate) enum Read {
    /// It is there, from so long ago.
    Kept(Arc<CallResult>, Duration),
    /// It is under way, and somebody else runs it.
    Joined(Seat),
    /// The caller starts it.
    Started(Seat),
}

// === impl ReadKey ===

impl ReadKey {
    fn bytes(&self) -> usize {
        self.tenant.len() + self.user.len() + self.tool_id.len() + self.input.len()
    }
}

// === impl CachedReads ===

impl CachedReads {
    pub(crate) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self(Mutex::new(State { kept: Kept::new(max_entries, max_bytes), flights: Flights::default() }))
    }

    /// A read that is younger than `ttl`, or a seat in the run that will give it. What another declaration or incarnation
    /// of the tool gave does not count.
    pub(crate) fn get(self: &Arc<Self>, key: &ReadKey, tool: &Arc<PreparedTool>, ttl: Duration) -> Read {
        let mut state = self.lock();
        if let Some((result, age)) = state.kept.get(key, tool, ttl) {
            return Read::Kept(result, age);
        }
        let (seat, is_first) = state.flights.join(self, key, tool);
        if is_first { Read::Started(seat) } else { Read::Joined(seat) }
    }

    /// The run of a read has ended: a success is kept, whoever waits is told.
    pub(crate) fn landed(&self, seat: &Seat, result: Arc<CallResult>) {
        let mut state = self.lock();
        let is_current = state.flights.land(seat);
        if is_current && result.is_success() {
            state.kept.keep(seat.key().clone(), Weak::clone(seat.tool()), Arc::clone(&result));
        }
        drop(state);
        seat.tell(result);
    }

    /// Drops what nobody would be given any more.
    pub(crate) fn purge(&self, now: Instant) {
        self.lock().kept.purge(now);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

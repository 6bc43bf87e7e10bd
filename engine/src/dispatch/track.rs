//! Track: what became of a tool's body, where middleware stands between it and its result.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Moment, RunningBatch};
use crate::json::JsonText;
use crate::result::Executed;

/// What became of a tool's body, which middleware may have run once, more than once, or not at all.
#[derive(Debug, Default)]
pub(crate) struct Track(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    entered: Option<Moment>,
    /// Runs under way. Those that are dropped on their way stay.
    open: usize,
    ran: bool,
    /// A run broke off, or nobody knows.
    doubtful: bool,
    /// The arguments as run, where middleware gave other ones.
    arguments: Option<JsonText>,
    answered_by: Option<Arc<str>>,
}

// === impl Track ===

impl Track {
    /// Enters the body of the call at `place`, if nobody has given it up.
    pub(super) fn enter(&self, batch: &RunningBatch, place: usize, arguments: Option<JsonText>) -> Option<Moment> {
        let is_first = batch.admitted[place].entry.enter();
        let mut state = self.lock();
        let may_repeat = || state.entered.is_some() && !batch.outbox.is_given_up(place);
        if !is_first && !may_repeat() {
            return None;
        }
        let now = batch.clock.now();
        state.entered.get_or_insert(now);
        state.open += 1;
        state.arguments = arguments;
        Some(now)
    }

    /// A run has come to an end, of which this is known.
    pub(super) fn ended(&self, executed: Executed) {
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        state.ran |= executed == Executed::Yes;
        state.doubtful |= executed == Executed::Unknown;
    }

    /// A middleware answered in the tool's place.
    pub(crate) fn answered_by(&self, name: Arc<str>) {
        self.lock().answered_by = Some(name);
    }

    pub(super) fn entered(&self) -> Option<Moment> {
        self.lock().entered
    }

    pub(super) fn executed(&self) -> Executed {
        let state = self.lock();
        match () {
            () if state.ran => Executed::Yes,
            () if state.open > 0 || state.doubtful => Executed::Unknown,
            () => Executed::No,
        }
    }

    /// Who answered in the tool's place, and the arguments that the tool got instead of its call's.
    pub(super) fn take_notes(&self) -> (Option<Arc<str>>, Option<JsonText>) {
        let mut state = self.lock();
        let answered_by = if state.entered.is_none() { state.answered_by.take() } else { None };
        (answered_by, state.arguments.take())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

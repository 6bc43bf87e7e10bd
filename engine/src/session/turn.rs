//! Turn: what happens between the messages that the bot received and its next rest.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::call::TurnId;

/// A turn of a session.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) id: TurnId,
    /// Whether the backend began it. Where it never begins turns, all batches of a session are in one that never ends.
    pub(crate) begun: bool,
    /// Text of third parties has reached the model.
    tainted: AtomicBool,
    /// A tool asked to stop, or the turn is over.
    stopped: AtomicBool,
}

// === impl Turn ===

impl Turn {
    pub(crate) fn new(id: TurnId, begun: bool) -> Self {
        Self { id, begun, tainted: AtomicBool::new(false), stopped: AtomicBool::new(false) }
    }

    /// A turn that is over: nothing runs in it any more.
    pub(crate) fn over(id: TurnId) -> Self {
        Self { stopped: AtomicBool::new(true), ..Self::new(id, true) }
    }

    pub(crate) fn is_tainted(&self) -> bool {
        self.tainted.load(Ordering::Acquire)
    }

    /// Marks it as tainted. Says whether it was not before.
    pub(crate) fn taint(&self) -> bool {
        !self.is_tainted() && !self.tainted.swap(true, Ordering::AcqRel)
    }

    /// Whether the model's batches are refused until a turn begins.
    pub(crate) fn is_stopped(&self) -> bool {
        self.begun && self.stopped.load(Ordering::Acquire)
    }

    /// Marks it as stopped. Says whether it was not before.
    pub(crate) fn stop(&self) -> bool {
        !self.stopped.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn was_asked_to_stop(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

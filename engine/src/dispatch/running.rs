//! RunningBatch: what is shared by a batch, its calls, and the handles that tools hold into it.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::held::{Held, Holds, TakenPermits};
use super::outbox::Outbox;
use super::{BatchControl, Clock, Deadline, EventSender, Moment, Progress};
use crate::approval::Waiting;
use crate::call::{Arguments, ToolCall, ToolExecutionContext};
use crate::engine::Engine;
use crate::gate::{Caller, Source};
use crate::policy::Policy;
use crate::provider::HostPort;
use crate::registry::{PreparedTool, Route, RoutingTable};
use crate::result::Repair;
use crate::session::{LoadedSet, Session, SessionView, Turn};

/// A planned batch. Lives as long as any of its calls, which may be longer than the batch itself.
pub(crate) struct RunningBatch {
    pub(crate) engine: Arc<Engine>,
    pub(crate) context: Arc<ToolExecutionContext>,
    pub(crate) host: Arc<dyn HostPort>,
    pub(crate) native_results: bool,
    /// As it was when the batch started.
    pub(crate) policy: Arc<Policy>,
    pub(crate) session: Option<Arc<Session>>,
    /// The session's turn when the batch started.
    pub(super) turn: Option<Arc<Turn>>,
    /// What the session had loaded when the batch started; nothing where every tool counts as loaded.
    pub(super) loaded: Option<Arc<LoadedSet>>,
    /// All calls, without the arguments as they were written.
    pub(super) calls: Vec<ToolCall>,
    /// Those that passed the gates, in call order.
    pub(crate) admitted: Vec<Admitted>,
    pub(crate) table: Arc<RoutingTable>,
    pub(super) clock: Clock,
    /// When the batch's own time is up.
    pub(super) ends: Moment,
    pub(super) control: Arc<BatchControl>,
    pub(super) cancel: Option<CancellationToken>,
    pub(super) events: Option<EventSender>,
    pub(super) outbox: Outbox,
    /// Tokens that tools have asked for, by their call's place in `admitted`.
    tokens: Mutex<Vec<(usize, CancellationToken)>>,
    holds: Holds,
    /// The batch whose call this one is, where it waits for an approved one.
    relay: OnceLock<(Weak<RunningBatch>, usize)>,
}

/// A call that passed the gates.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// Place in the batch.
    pub(crate) index: usize,
    pub(crate) arguments: Arguments,
    pub(crate) repairs: Vec<Repair>,
    /// The message that asked for the call, where its tool needs it.
    pub(crate) source: Option<Box<Source>>,
    pub(crate) deadline: Deadline,
    /// Whether it waits for the ordered calls before it.
    pub(super) is_ordered: bool,
    /// Place of its route in the table.
    pub(super) route: usize,
    pub(super) entry: Entry,
    /// What it waits for, where a person has to agree first.
    pub(super) waiting: Option<Arc<Waiting>>,
}

/// Whether the tool's body was entered, which decides if the outcome of a call given up is unknown. Of entering and
/// giving up only the first happens, whatever threads they are on: a call that is reported as not run never runs.
#[derive(Debug, Default)]
pub(super) struct Entry(AtomicU8);

/// What all calls of a batch share, besides the calls.
pub(super) struct Shared {
    pub(super) context: Arc<ToolExecutionContext>,
    pub(super) table: Arc<RoutingTable>,
    pub(super) clock: Clock,
    pub(super) ends: Moment,
    pub(super) control: Arc<BatchControl>,
    pub(super) cancel: Option<CancellationToken>,
    pub(super) events: Option<EventSender>,
    pub(super) host: Option<Arc<dyn HostPort>>,
    pub(super) native_results: bool,
    pub(super) policy: Arc<Policy>,
    pub(super) session: Option<Arc<Session>>,
    pub(super) turn: Option<Arc<Turn>>,
    pub(super) loaded: Option<Arc<LoadedSet>>,
}

// === impl RunningBatch ===

impl RunningBatch {
    pub(super) fn new(engine: &Arc<Engine>, shared: Shared, calls: Vec<ToolCall>, admitted: Vec<Admitted>) -> Self {
        let Shared { context, table, clock, ends, control, cancel, events, host, native_results, policy, .. } = shared;
        let Shared { session, turn, loaded, .. } = shared;
        Self {
            engine: Arc::clone(engine),
            host: host.unwrap_or_else(|| Arc::clone(&engine.host)),
            native_results,
            policy,
            session,
            turn,
            loaded,
            outbox: Outbox::new(events.is_some()),
            context,
            calls,
            admitted,
            table,
            clock,
            ends,
            control,
            cancel,
            events,
            tokens: Mutex::new(Vec::new()),
            holds: Holds::default(),
            relay: OnceLock::new(),
        }
    }

    /// Takes the calls out of a batch that nobody else holds any more.
    pub(super) fn take_calls(&mut self) -> (Vec<ToolCall>, Vec<Admitted>) {
        (std::mem::take(&mut self.calls), std::mem::take(&mut self.admitted))
    }

    /// The admitted call at `place`, as the model made it.
    pub(crate) fn call(&self, place: usize) -> &ToolCall {
        &self.calls[self.admitted[place].index]
    }

    /// The tool of the admitted call at `place`.
    pub(crate) fn tool(&self, place: usize) -> &Arc<PreparedTool> {
        &self.route(place).tool
    }

    /// The route of the admitted call at `place`.
    pub(super) fn route(&self, place: usize) -> &Route {
        &self.table.routes[self.admitted[place].route]
    }

    /// When the call at `place` is given up.
    pub(crate) fn deadline(&self, place: usize) -> Instant {
        self.clock.instant(self.admitted[place].deadline.get())
    }

    /// Whoever calls, as the gates saw him when the batch started; for listing, which asks for no taint.
    pub(crate) fn caller(&self) -> Caller<'_> {
        let view =
            |turn: &Arc<Turn>| SessionView { loaded: self.loaded.clone(), turn: Arc::clone(turn), tainted: false };
        Caller::new(&self.context, &self.policy, self.turn.as_ref().map(view)).among(self.table.findable)
    }

    pub(crate) fn report(&self, place: usize, progress: Progress) {
        if let Some(events) = &self.events {
            events.progress(self.admitted[place].index, progress);
        } else if let Some((outer, place)) = self.relay.get()
            && let Some(outer) = outer.upgrade()
        {
            outer.report(*place, progress);
        }
    }

    /// From now on progress is told to the call at `place` of the batch that waits.
    pub(super) fn relay_to(&self, outer: &Arc<Self>, place: usize) {
        self.relay.set((Arc::downgrade(outer), place)).ok();
    }

    /// Gives up every call. Says whether the body of any was entered.
    pub(crate) fn give_up_all(&self) -> bool {
        let entered = (0..self.admitted.len()).filter(|place| self.give_up(*place)).count();
        entered > 0
    }

    /// A token for the call at `place`. A call that has been given up gets one that is cancelled already.
    pub(crate) fn token_of(&self, place: usize) -> CancellationToken {
        let token = CancellationToken::new();
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if self.outbox.is_given_up(place) {
            token.cancel();
        } else {
            tokens.push((place, token.clone()));
        }
        token
    }

    /// Keeps the place of the call at `place` after its future is gone.
    pub(crate) fn hold(&self, place: usize) -> Arc<Held> {
        self.holds.hold(place, &self.tool(place).handle)
    }

    /// The call at `place` is over: what it holds is given back, unless its provider holds it on.
    #[inline]
    pub(super) fn leave(&self, place: usize, permits: &mut TakenPermits) {
        if self.holds.leave(place, permits) {
            *permits = [None, None];
            self.tool(place).handle.leave();
        }
    }

    /// Tells the tool of the call at `place`, wherever it is, that nobody waits for it any more. Says whether its body
    /// was entered; if it was not, it never will be.
    pub(super) fn give_up(&self, place: usize) -> bool {
        let admitted = &self.admitted[place];
        let was_entered = match &admitted.waiting {
            None => admitted.entry.give_up(),
            Some(waiting) => waiting.give_up(&self.engine.approvals),
        };
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        self.outbox.give_up(place);
        tokens.retain(|(owner, token)| {
            if *owner == place {
                token.cancel();
            }
            *owner != place
        });
        was_entered
    }
}

// === impl Entry ===

impl Entry {
    const WAITING: u8 = 0;
    const ENTERED: u8 = 1;
    const GIVEN_UP: u8 = 2;

    /// Whether the body may be entered, which happens once.
    pub(super) fn enter(&self) -> bool {
        self.0.compare_exchange(Self::WAITING, Self::ENTERED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the body was entered before.
    pub(super) fn give_up(&self) -> bool {
        self.0.compare_exchange(Self::WAITING, Self::GIVEN_UP, Ordering::AcqRel, Ordering::Acquire)
            == Err(Self::ENTERED)
    }
}

impl fmt::Debug for RunningBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningBatch").field("admitted", &self.admitted.len()).finish_non_exhaustive()
    }
}

//! ProviderHandle: what an incarnation of a provider publishes for the invoke path.
//!
//! Everything here is read or counted by calls in flight, and changed only by the provider's actor.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{BreakerState, Permits, Probe};
use crate::call::Locale;
use crate::isolate::Isolated;
use crate::provider::{ProviderKind, ToolProvider};
use crate::result::{CallError, ErrorCode, ToolFailure};
use crate::shards::Sharded;
use crate::text;

/// One incarnation of a provider, as calls see it.
pub(crate) struct ProviderHandle {
    pub(crate) name: Arc<str>,
    pub(crate) kind: ProviderKind,
    pub(crate) invoker: Isolated<Arc<dyn ToolProvider>>,
    /// Ends the calls in flight at once.
    pub(crate) ended: CancellationToken,
    pub(crate) permits: Option<Arc<Permits>>,
    breaker: Option<Arc<BreakerState>>,
    in_flight: InFlight,
    life: AtomicU8,
    why: Mutex<String>,
    idle: Notify,
}

/// How an incarnation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Life {
    /// Takes calls.
    Up = 0,
    /// Replaced: what holds an older table may still call it, until it is idle.
    Draining = 1,
    /// Taken out of service in order.
    Closed = 2,
    /// Went away by itself.
    Crashed = 3,
    /// Closed because the engine shuts down.
    Shutdown = 4,
    /// Up, but there were failures: its calls have to look at the breaker.
    Watched = 5,
}

/// Calls that came and calls that left, counted by each worker in a place of its own. Both only go up.
#[derive(Default)]
struct InFlight(Sharded<Passages>);

#[derive(Default)]
struct Passages {
    entered: AtomicU64,
    left: AtomicU64,
}

// === impl ProviderHandle ===

impl ProviderHandle {
    pub(crate) fn new(
        name: Arc<str>,
        invoker: Arc<dyn ToolProvider>,
        permits: Option<Permits>,
        breaker: Option<Arc<BreakerState>>,
    ) -> Arc<Self> {
        let handle = Arc::new(Self {
            name,
            kind: invoker.kind(),
            invoker: Isolated::new(invoker),
            ended: CancellationToken::new(),
            permits: permits.map(Arc::new),
            breaker,
            in_flight: InFlight::default(),
            life: AtomicU8::new(Life::Up as u8),
            why: Mutex::new(String::new()),
            idle: Notify::new(),
        });
        if let Some(breaker) = &handle.breaker {
            breaker.attach(&handle);
        }
        handle
    }

    pub(crate) fn life(&self) -> Life {
        match self.life.load(Ordering::SeqCst) {
            0 => Life::Up,
            1 => Life::Draining,
            2 => Life::Closed,
            3 => Life::Crashed,
            4 => Life::Shutdown,
            _ => Life::Watched,
        }
    }

    /// Why the incarnation takes no calls, if so.
    pub(crate) fn why_down(&self, locale: Locale) -> Option<CallError> {
        match self.life() {
            Life::Up | Life::Draining => None,
            Life::Watched => self.breaker.as_ref()?.refusal().map(|open| open.error(locale, &self.name)),
            Life::Closed | Life::Crashed => {
                let why = self.why();
                let looping = self.breaker.as_ref().and_then(|b| b.why_looping(locale, &self.name, &why));
                Some(looping.unwrap_or_else(|| text::provider_down(locale, &self.name, &why)))
            }
            Life::Shutdown => Some(text::cancelled(locale, ErrorCode::CancelledShutdown)),
        }
    }

    /// Why calls in flight ended with the incarnation.
    pub(crate) fn why_ended(&self, locale: Locale) -> CallError {
        match self.life() {
            Life::Shutdown => text::cancelled(locale, ErrorCode::CancelledShutdown),
            Life::Up | Life::Watched | Life::Draining | Life::Closed | Life::Crashed => {
                text::provider_crashed(locale, &self.name, &self.why())
            }
        }
    }

    /// Counts a call in. A handle that is closed takes none: counting first and looking second means that
    /// [`ProviderHandle::idle`] cannot miss a call.
    #[inline]
    pub(crate) fn enter(&self, locale: Locale) -> Result<(), CallError> {
        self.in_flight.enter();
        match self.life() {
            // A breaker may be just about to close; it is asked when the tool is entered.
            Life::Up | Life::Watched | Life::Draining => Ok(()),
            Life::Closed | Life::Crashed | Life::Shutdown => Err(self.turned_away(locale)),
        }
    }

    #[cold]
    fn turned_away(&self, locale: Locale) -> CallError {
        self.leave();
        self.why_down(locale).unwrap_or_else(|| text::provider_down(locale, &self.name, &self.why()))
    }

    /// Whether there is nothing to look at before a tool is entered, nor to note when it has gone well. This is all that
    /// a breaker costs a provider that works.
    #[inline]
    pub(crate) fn is_plainly_up(&self) -> bool {
        self.life.load(Ordering::Relaxed) == Life::Up as u8
    }

    /// Asks the breaker, just before a tool is entered.
    pub(crate) fn pass_breaker(&self, locale: Locale) -> Result<Option<Probe>, CallError> {
        match (&self.breaker, self.life()) {
            (Some(breaker), Life::Watched | Life::Draining) => {
                breaker.admit().map_err(|open| open.error(locale, &self.name))
            }
            _ => Ok(None),
        }
    }

    /// Tells the breaker how a call went. One that goes well as usual writes nothing.
    pub(crate) fn judge<T>(
        &self,
        probe: &mut Option<Probe>,
        returned: &Result<T, ToolFailure>,
        entered: impl FnOnce() -> Instant,
    ) {
        match returned {
            Ok(_) if probe.is_none() && self.is_plainly_up() => {}
            Ok(_) => self.answered(probe.take()),
            Err(failure) => self.broke(probe.take(), entered(), failure),
        }
    }

    /// A call came back with a result of its tool, good or bad.
    fn answered(&self, probe: Option<Probe>) {
        match (probe, &self.breaker) {
            (Some(probe), _) => probe.succeeded(),
            (None, Some(breaker)) => breaker.succeeded(),
            (None, None) => {}
        }
    }

    /// A call that was entered at `began` came back with a failure of the provider.
    fn broke(&self, probe: Option<Probe>, began: Instant, failure: &ToolFailure) {
        let Some(breaker) = self.breaker.as_ref().filter(|_| failure.code.means_broken()) else { return };
        match probe {
            Some(probe) => probe.failed(&failure.message),
            None => breaker.failed(began, &failure.message),
        }
    }

    /// Marks whether calls have to look at the breaker. Changes nothing once the incarnation has begun to end.
    pub(super) fn watch(&self, watched: bool) {
        let (from, to) = if watched { (Life::Up, Life::Watched) } else { (Life::Watched, Life::Up) };
        self.life.compare_exchange(from as u8, to as u8, Ordering::SeqCst, Ordering::SeqCst).ok();
    }

    /// Why its breaker lets nothing pass, if so, for people.
    pub(crate) fn why_left_alone(&self) -> Option<String> {
        if self.is_plainly_up() {
            return None;
        }
        self.breaker.as_ref()?.refusal().map(|open| open.reason())
    }

    /// Counts a call out.
    #[inline]
    pub(crate) fn leave(&self) {
        self.in_flight.leave();
        if self.life() != Life::Up {
            self.idle.notify_waiters();
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.count()
    }

    /// Changes how the incarnation stands. Calls in flight end at once unless it only drains.
    pub(crate) fn end(&self, life: Life, why: &str) {
        why.clone_into(&mut self.why.lock().unwrap_or_else(PoisonError::into_inner));
        self.life.store(life as u8, Ordering::SeqCst);
        if life != Life::Draining {
            self.ended.cancel();
        }
    }

    /// Waits until no call is in flight.
    pub(crate) async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            if self.in_flight() == 0 {
                return;
            }
            notified.await;
        }
    }

    fn why(&self) -> String {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

// === impl InFlight ===

impl InFlight {
    #[inline]
    fn enter(&self) {
        self.0.mine().0.entered.fetch_add(1, Ordering::SeqCst);
    }

    #[inline]
    fn leave(&self) {
        self.0.mine().0.left.fetch_add(1, Ordering::SeqCst);
    }

    /// Whoever left is counted before whoever came, so that a call is never missed: where both are as many, there was a
    /// moment in between without any.
    fn count(&self) -> usize {
        let sum = |count: fn(&Passages) -> &AtomicU64| {
            self.0.all().fold(0, |sum: u64, passages| sum.wrapping_add(count(passages).load(Ordering::SeqCst)))
        };
        let left = sum(|passages| &passages.left);
        let entered = sum(|passages| &passages.entered);
        usize::try_from(entered.wrapping_sub(left)).unwrap_or(usize::MAX)
    }
}

impl fmt::Debug for ProviderHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderHandle").field("name", &self.name).field("life", &self.life()).finish()
    }
}

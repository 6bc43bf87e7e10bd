//! ProviderHandle: what an incarnation of a provider publishes for the invoke path.
//!
//! Everything here is read or counted by calls in flight, and changed only by the provider's actor.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::Permits;
use crate::call::Locale;
use crate::isolate::Isolated;
use crate::provider::{ProviderKind, ToolProvider};
use crate::result::{CallError, ErrorCode};
use crate::text;

/// One incarnation of a provider, as calls see it.
pub(crate) struct ProviderHandle {
    pub(crate) name: Arc<str>,
    pub(crate) kind: ProviderKind,
    pub(crate) invoker: Isolated<Arc<dyn ToolProvider>>,
    /// Ends the calls in flight at once.
    pub(crate) ended: CancellationToken,
    pub(crate) permits: Option<Arc<Permits>>,
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
}

/// Alone on its cache lines: every call counts here, and its neighbours are read by every call.
#[repr(align(128))]
struct InFlight(AtomicUsize);

// === impl ProviderHandle ===

impl ProviderHandle {
    pub(crate) fn new(name: Arc<str>, invoker: Arc<dyn ToolProvider>, permits: Option<Permits>) -> Self {
        Self {
            name,
            kind: invoker.kind(),
            invoker: Isolated::new(invoker),
            ended: CancellationToken::new(),
            permits: permits.map(Arc::new),
            in_flight: InFlight(AtomicUsize::new(0)),
            life: AtomicU8::new(Life::Up as u8),
            why: Mutex::new(String::new()),
            idle: Notify::new(),
        }
    }

    pub(crate) fn life(&self) -> Life {
        match self.life.load(Ordering::SeqCst) {
            0 => Life::Up,
            1 => Life::Draining,
            2 => Life::Closed,
            3 => Life::Crashed,
            _ => Life::Shutdown,
        }
    }

    /// Why the incarnation takes no calls, if so.
    pub(crate) fn why_down(&self, locale: Locale) -> Option<CallError> {
        match self.life() {
            Life::Up | Life::Draining => None,
            Life::Closed | Life::Crashed => Some(text::provider_down(locale, &self.name, &self.why())),
            Life::Shutdown => Some(text::cancelled(locale, ErrorCode::CancelledShutdown)),
        }
    }

    /// Why calls in flight ended with the incarnation.
    pub(crate) fn why_ended(&self, locale: Locale) -> CallError {
        match self.life() {
            Life::Shutdown => text::cancelled(locale, ErrorCode::CancelledShutdown),
            Life::Up | Life::Draining | Life::Closed | Life::Crashed => {
                text::provider_crashed(locale, &self.name, &self.why())
            }
        }
    }

    /// Counts a call in. A handle that is closed takes none: counting first and looking second means that
    /// [`ProviderHandle::idle`] cannot miss a call.
    pub(crate) fn enter(&self, locale: Locale) -> Result<(), CallError> {
        self.in_flight.0.fetch_add(1, Ordering::SeqCst);
        match self.why_down(locale) {
            None => Ok(()),
            Some(error) => {
                self.leave();
                Err(error)
            }
        }
    }

    /// Counts a call out.
    pub(crate) fn leave(&self) {
        if self.in_flight.0.fetch_sub(1, Ordering::SeqCst) == 1 && self.life() != Life::Up {
            self.idle.notify_waiters();
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.0.load(Ordering::SeqCst)
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

impl fmt::Debug for ProviderHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderHandle").field("name", &self.name).field("life", &self.life()).finish()
    }
}

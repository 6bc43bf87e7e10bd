//! BreakerState: leaves a provider alone that broke too often in a row, for all its incarnations together.
//!
//! Calls that go well never come here: while there is nothing to say, the provider's handles are plainly
//! [`super::Life::Up`]; from the first failure on they are [`super::Life::Watched`], and their calls look.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::ProviderHandle;
use crate::call::Locale;
use crate::provider::Breaker;
use crate::result::CallError;
use crate::text;

/// Longer than any process runs, and no clock overflows on it.
const FOREVER: Duration = Duration::from_secs(3_000_000_000);

/// The breaker of one provider.
pub(crate) struct BreakerState {
    settings: Breaker,
    inner: Mutex<Inner>,
}

/// Why the breaker lets nothing pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BreakerOpen {
    /// Failures in a row.
    failures: u32,
    /// Until it is tried again.
    wait: Duration,
    /// The last of the failures.
    why: String,
}

/// The one call that tries an open breaker. Dropped without a verdict, it leaves its place to the next.
#[derive(Debug)]
pub(crate) struct Probe {
    breaker: Arc<BreakerState>,
    number: u64,
}

struct Inner {
    provider: Arc<str>,
    phase: Phase,
    /// In a row, of calls and of incarnations that were up.
    failures: u32,
    last_failure: Option<Instant>,
    why: String,
    /// How often the time was doubled.
    level: u32,
    closed: Instant,
    next_probe: u64,
    /// Incarnations in a row that did not start, or that went away without a good call and before long.
    lost: u32,
    /// When the next incarnation is due; while none is up.
    next_start: Option<Instant>,
    handles: Vec<Weak<ProviderHandle>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed,
    /// Until this time; afterwards the next call is the probe.
    Open(Instant),
    /// The probe with this number is under way.
    Probing(u64),
}

// === impl BreakerState ===

impl BreakerState {
    /// Gives nothing where there is to be no breaker.
    pub(crate) fn new(provider: &Arc<str>, settings: Option<Breaker>) -> Option<Arc<Self>> {
        let settings = settings.filter(|settings| settings.failures > 0)?;
        let inner = Inner {
            provider: Arc::clone(provider),
            phase: Phase::Closed,
            failures: 0,
            last_failure: None,
            why: String::new(),
            level: 0,
            closed: Instant::now(),
            next_probe: 0,
            lost: 0,
            next_start: None,
            handles: Vec::new(),
        };
        Some(Arc::new(Self { settings, inner: Mutex::new(inner) }))
    }

    /// Makes the calls of an incarnation look here whenever there is something to see.
    pub(crate) fn attach(&self, handle: &Arc<ProviderHandle>) {
        let mut inner = self.lock();
        inner.handles.retain(|known| known.strong_count() > 0);
        inner.handles.push(Arc::downgrade(handle));
        inner.tell_handles();
    }

    /// Why no call may pass at this moment, if so.
    pub(crate) fn refusal(&self) -> Option<BreakerOpen> {
        self.lock().refusal(Instant::now())
    }

    /// Lets one call pass, as the probe when it is time for one.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<Option<Probe>, BreakerOpen> {
        let mut inner = self.lock();
        if let Some(open) = inner.refusal(Instant::now()) {
            return Err(open);
        }
        if inner.phase == Phase::Closed {
            return Ok(None);
        }
        let number = inner.next_probe;
        inner.next_probe += 1;
        inner.phase = Phase::Probing(number);
        Ok(Some(Probe { breaker: Arc::clone(self), number }))
    }

    /// A call went well. One that began before the breaker opened does not close it.
    pub(crate) fn succeeded(&self) {
        let mut inner = self.lock();
        if inner.phase == Phase::Closed {
            (inner.failures, inner.lost) = (0, 0);
            inner.tell_handles();
        }
    }

    /// A call that was entered at `began` found the provider broken.
    pub(crate) fn failed(&self, began: Instant, why: &str) {
        let mut inner = self.lock();
        if inner.phase == Phase::Closed {
            inner.count(began, why, &self.settings);
        }
    }

    /// An incarnation that was up since `began` went away by itself.
    pub(crate) fn crashed(&self, began: Instant, why: &str) {
        let mut inner = self.lock();
        match inner.phase {
            Phase::Closed => inner.count(began, why, &self.settings),
            Phase::Open(until) if Instant::now() < until => {}
            Phase::Open(_) | Phase::Probing(_) => inner.open_again(why, &self.settings),
        }
    }

    /// Forgets everything: someone has seen to the provider.
    pub(crate) fn reset(&self) {
        let mut inner = self.lock();
        inner.level = 0;
        inner.next_start = None;
        inner.close();
    }

    /// No incarnation is up, since one did not start or went away by itself; the next is started after `wait`. One that
    /// was up for long, good calls or not, `lasted`: it is the first of a new row.
    pub(crate) fn restarting(&self, lasted: bool, wait: Duration) {
        let mut inner = self.lock();
        inner.lost = if lasted { 1 } else { inner.lost.saturating_add(1) };
        inner.next_start = Some(Instant::now() + wait);
        inner.tell_handles();
    }

    /// An incarnation is up again.
    pub(crate) fn restarted(&self) {
        self.lock().next_start = None;
    }

    /// Whether so many incarnations have failed in a row that it is no accident any more.
    pub(crate) fn is_looping(&self) -> bool {
        self.looping().is_some()
    }

    /// What people are told of a provider of which no incarnation is up, for the reason `why`.
    pub(crate) fn reason_down(&self, why: &str) -> String {
        match self.looping() {
            Some((failures, _)) => format!("it failed {failures} times in a row: {why}"),
            None => why.to_owned(),
        }
    }

    /// What a call is told that finds no incarnation up, for the reason `why`.
    pub(crate) fn why_looping(&self, locale: Locale, provider: &str, why: &str) -> Option<CallError> {
        let (failures, next) = self.looping()?;
        let wait = next.saturating_duration_since(Instant::now());
        Some(BreakerOpen { failures, wait, why: why.to_owned() }.error(locale, provider))
    }

    /// How many incarnations have failed in a row, where those are too many, and when the next is due.
    fn looping(&self) -> Option<(u32, Instant)> {
        let inner = self.lock();
        let next = inner.next_start.filter(|_| inner.lost >= self.settings.failures)?;
        Some((inner.lost, next))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BreakerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerState").field("phase", &self.lock().phase).finish_non_exhaustive()
    }
}

// === impl Inner ===

impl Inner {
    fn refusal(&self, now: Instant) -> Option<BreakerOpen> {
        let wait = match self.phase {
            Phase::Closed => return None,
            Phase::Open(until) if now >= until => return None,
            Phase::Open(until) => until - now,
            Phase::Probing(_) => Duration::ZERO,
        };
        Some(BreakerOpen { failures: self.failures, wait, why: self.why.clone() })
    }

    /// What was under way when the last failure was counted is the same failure: a crash with many calls in flight is
    /// one. Failures of long ago say nothing.
    fn count(&mut self, began: Instant, why: &str, settings: &Breaker) {
        let now = Instant::now();
        if self.last_failure.is_some_and(|last| began < last) {
            return;
        }
        if self.last_failure.is_some_and(|last| now.saturating_duration_since(last) >= settings.reset_after) {
            self.failures = 0;
        }
        self.failures += 1;
        self.last_failure = Some(now);
        text::short(why).as_ref().clone_into(&mut self.why);
        if self.failures >= settings.failures {
            let was_stable = now.saturating_duration_since(self.closed) >= settings.reset_after;
            self.level = if was_stable { 0 } else { self.level };
            self.open(now, settings);
        }
        self.tell_handles();
    }

    fn open_again(&mut self, why: &str, settings: &Breaker) {
        let now = Instant::now();
        self.failures = self.failures.saturating_add(1);
        self.last_failure = Some(now);
        text::short(why).as_ref().clone_into(&mut self.why);
        self.open(now, settings);
    }

    fn open(&mut self, now: Instant, settings: &Breaker) {
        let time = settings.open.saturating_mul(2_u32.saturating_pow(self.level)).min(settings.max_open);
        self.level = self.level.saturating_add(1).min(31);
        self.phase = Phase::Open(now + time.min(FOREVER));
        let (provider, failures, why) = (&self.provider, self.failures, &self.why);
        tracing::warn!(%provider, failures, why, seconds = time.as_secs(), "provider is left alone");
    }

    fn close(&mut self) {
        if self.phase != Phase::Closed {
            tracing::info!(provider = %self.provider, "provider is called again");
        }
        self.phase = Phase::Closed;
        self.failures = 0;
        self.closed = Instant::now();
        self.tell_handles();
    }

    fn tell_handles(&self) {
        let watched = self.phase != Phase::Closed || self.failures > 0 || self.lost > 0;
        self.handles.iter().filter_map(Weak::upgrade).for_each(|handle| handle.watch(watched));
    }
}

// === impl Probe ===

impl Probe {
    pub(crate) fn succeeded(self) {
        let mut inner = self.breaker.lock();
        if inner.phase == Phase::Probing(self.number) {
            inner.lost = 0;
            inner.close();
        }
    }

    pub(crate) fn failed(self, why: &str) {
        let mut inner = self.breaker.lock();
        if inner.phase == Phase::Probing(self.number) {
            inner.open_again(why, &self.breaker.settings);
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let mut inner = self.breaker.lock();
        if inner.phase == Phase::Probing(self.number) {
            inner.phase = Phase::Open(Instant::now());
        }
    }
}

// === impl BreakerOpen ===

impl BreakerOpen {
    pub(crate) fn error(&self, locale: Locale, provider: &str) -> CallError {
        text::breaker_open(locale, provider, self.failures, &self.why, self.wait)
    }

    /// For people who look at the provider.
    pub(crate) fn reason(&self) -> String {
        let Self { failures, wait, why } = self;
        match wait.as_secs_f64().ceil() as u64 {
            0 => format!("it failed {failures} times in a row ({why}); one call is trying it"),
            seconds => format!("it failed {failures} times in a row ({why}); it is tried again in {seconds} s"),
        }
    }
}

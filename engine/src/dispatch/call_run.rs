//! CallRun: one admitted call as a future that never panics and never forgets to give back what it holds.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::coop::unconstrained;

use super::asking;
use super::held::TakenPermits;
use super::settled::{Returned, Settled};
use super::{Moment, RunningBatch, Track};
use crate::call::{CallContext, ToolInvocation};
use crate::gate::{self, Gate};
use crate::isolate::{self, Panicked};
use crate::metrics;
use crate::middleware::ChainRun;
use crate::provider::InvokeResult;
use crate::registry::{Permits, Probe, QueueFull};
use crate::result::{CallError, ErrorCode, Executed};
use crate::text;

/// One admitted call. Dropping it is its cancellation: the tool's future is dropped, its permits are given back.
pub(super) struct CallRun {
    batch: Arc<RunningBatch>,
    place: usize,
    stage: Stage,
    /// Of the tool and of its provider.
    permits: TakenPermits,
    /// Whether it counts as in flight at its provider; what waits for a person does not.
    is_counted: bool,
    entered: Option<Moment>,
    /// When the call tries whether a provider that broke is well again.
    probe: Option<Probe>,
    /// What middleware made of the call, where there is any.
    track: Option<Arc<Track>>,
}

enum Stage {
    /// Waits for a person, and holds nothing meanwhile. Its run is a batch of its own.
    Asking(BoxFuture<'static, Settled>),
    /// Waits for permits.
    Queued(BoxFuture<'static, Acquired>),
    /// May enter the tool's body.
    Ready,
    /// In the tool's body.
    Running(BoxFuture<'static, InvokeResult>),
    /// Over.
    Done,
}

type Acquired = Result<TakenPermits, QueueFull>;

// === impl CallRun ===

impl CallRun {
    /// For a call that is counted in: takes the permits that are free, or else a place in the queue.
    #[inline]
    pub(super) fn new(batch: &Arc<RunningBatch>, place: usize) -> Self {
        let tool = batch.tool(place);
        let waits = batch.admitted[place].waiting.is_some();
        let mut run = Self {
            batch: Arc::clone(batch),
            place,
            stage: Stage::Ready,
            permits: [None, None],
            is_counted: !waits,
            entered: None,
            probe: None,
            track: None,
        };
        if waits {
            run.stage = Stage::Asking(asking::wait(Arc::clone(batch), place).boxed());
        } else if tool.permits.is_some() || tool.handle.permits.is_some() {
            run.take_permits(tool.permits.clone(), tool.handle.permits.clone());
        }
        run
    }

    /// Polls the call for the first time, for whoever knows what time it is.
    #[inline]
    pub(super) fn poll_first(&mut self, now: Moment, cx: &mut Context<'_>) -> Poll<Settled> {
        match self.stage {
            Stage::Ready => match self.enter(now, cx) {
                Some(settled) => self.finish(settled),
                None if self.track.is_some() => Pin::new(self).poll(cx),
                None => Poll::Pending,
            },
            _ => Pin::new(self).poll(cx),
        }
    }

    fn take_permits(&mut self, tool: Option<Arc<Permits>>, provider: Option<Arc<Permits>>) {
        let of_tool = tool.as_ref().and_then(|permits| permits.try_acquire());
        let tool_is_free = of_tool.is_some() || tool.is_none();
        let of_provider = if tool_is_free { provider.as_ref().and_then(|permits| permits.try_acquire()) } else { None };
        if tool_is_free && (of_provider.is_some() || provider.is_none()) {
            self.permits = [of_tool, of_provider];
            return;
        }
        let acquire = async move {
            let of_tool = match (of_tool, tool) {
                (None, Some(permits)) => Some(permits.acquire().await?),
                (taken, _) => taken,
            };
            let of_provider = match provider {
                Some(permits) => Some(permits.acquire().await?),
                None => None,
            };
            Ok([of_tool, of_provider])
        };
        let mut queued = unconstrained(acquire).boxed();
        // The place in the queue is taken now, in call order: tasks are first polled in any order.
        self.stage = Stage::Queued(match queued.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => queued,
            Poll::Ready(acquired) => std::future::ready(acquired).boxed(),
        });
    }

    /// Whether the call waits for permits.
    pub(super) fn is_queued(&self) -> bool {
        matches!(self.stage, Stage::Queued(_))
    }

    /// Waits for the permits, and enters nothing.
    pub(super) async fn admitted(mut self) -> Result<Self, Settled> {
        std::future::poll_fn(|cx| self.poll_permits(cx)).await.map(|()| self)
    }

    fn poll_permits(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Settled>> {
        if let Stage::Queued(permits) = &mut self.stage {
            match ready!(permits.as_mut().poll(cx)) {
                Ok(permits) => {
                    self.permits = permits;
                    self.stage = Stage::Ready;
                }
                Err(QueueFull) => {
                    let error = text::in_flight_limit(self.batch.context.locale);
                    return Poll::Ready(Err(Settled::error(error, Executed::No, self.batch.clock.now())));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Enters the tool's body, as of `now`, and polls it once. Gives nothing where it goes on.
    fn enter(&mut self, now: Moment, cx: &mut Context<'_>) -> Option<Settled> {
        if let Err(error) = self.may_enter() {
            return Some(Settled::error(error, Executed::No, now));
        }
        if let Some(list) = self.batch.engine.middleware.list() {
            let track = Arc::clone(self.track.insert(Arc::default()));
            self.entered = Some(now);
            self.stage = Stage::Running(ChainRun::start(list, Arc::clone(&self.batch), self.place, track));
            return None;
        }
        let handle = &self.batch.tool(self.place).handle;
        if !handle.is_plainly_up() {
            match handle.pass_breaker(self.batch.context.locale) {
                Ok(probe) => self.probe = probe,
                Err(error) => return Some(Settled::error(error, Executed::No, now)),
            }
        }
        if !self.batch.admitted[self.place].entry.enter() {
            // It has settled already; this end goes nowhere.
            let error = text::cancelled(self.batch.context.locale, ErrorCode::CancelledCall);
            return Some(Settled::given_up(error, false, now));
        }
        self.entered = Some(now);
        self.invoke(cx)
    }

    /// Calls the provider and polls what it gives, with one guard against panics around both.
    fn invoke(&mut self, cx: &mut Context<'_>) -> Option<Settled> {
        let invoker = Arc::clone(&self.batch.tool(self.place).handle.invoker);
        let invocation = ToolInvocation::new(Arc::clone(&self.batch), self.place);
        let context = CallContext::new(Arc::clone(&self.batch), self.place);
        // Outside of the guard: a body whose poll panicked is not dropped while that panic unwinds, and a result stands
        // whatever its body's drop does.
        let (mut body, mut returned) = (None, None);
        let guarded = isolate::catch(|| {
            let entered: &mut BoxFuture<'static, InvokeResult> = body.insert(invoker.invoke(invocation, context));
            match entered.as_mut().poll(cx) {
                // Boxed at once: a result is large, and goes through many hands.
                Poll::Ready(Ok(result)) => returned = Some(Ok(Box::new(result))),
                Poll::Ready(Err(failure)) => returned = Some(Err(failure)),
                Poll::Pending => return,
            }
            body = None;
        });
        if let Some(body) = body {
            self.stage = Stage::Running(body);
        }
        match (returned, guarded) {
            (Some(returned), _) => Some(self.ended(Ok(returned))),
            (None, Err(panicked)) => Some(self.ended(Err(panicked))),
            (None, Ok(())) => None,
        }
    }

    /// The message that asked for the call may have been taken back while the call waited.
    fn may_enter(&self) -> Result<(), CallError> {
        let (Some(source), Some(session)) = (&self.batch.admitted[self.place].source, &self.batch.session) else {
            return Ok(());
        };
        gate::recheck_source(session, &source.message.id, self.batch.context.locale).map(drop).inspect_err(|error| {
            metrics::record_refusal(Gate::SourceMessage, error.code);
        })
    }

    /// The body gave something back, or panicked.
    #[inline]
    fn ended(&mut self, returned: Result<Returned, Panicked>) -> Settled {
        let now = self.batch.clock.now();
        let entered = self.entered.unwrap_or(now);
        match (returned, &self.track) {
            (Ok(returned), Some(track)) => Settled::through(returned, track, now, &self.batch, self.place),
            (Ok(returned), None) => {
                let clock = self.batch.clock;
                let handle = &self.batch.tool(self.place).handle;
                handle.judge(&mut self.probe, &returned, || clock.instant(entered));
                Settled::returned(returned, entered, now, &self.batch, self.place)
            }
            (Err(Panicked), _) => Settled::panicked(text::panicked(self.batch.context.locale), entered, now),
        }
    }

    #[inline]
    fn finish(&mut self, settled: Settled) -> Poll<Settled> {
        self.drop_body();
        Poll::Ready(settled)
    }

    /// Gives back what the call holds, once.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.drop_body();
        if std::mem::take(&mut self.is_counted) {
            self.batch.leave(self.place, &mut self.permits);
        }
    }

    pub(super) fn batch(&self) -> &Arc<RunningBatch> {
        &self.batch
    }

    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// A body whose drop panics has still settled; the panic stays here.
    #[inline]
    fn drop_body(&mut self) {
        if !matches!(self.stage, Stage::Ready | Stage::Done) {
            let stage = std::mem::replace(&mut self.stage, Stage::Done);
            isolate::catch(move || drop(stage)).ok();
        }
        self.stage = Stage::Done;
    }
}

impl Future for CallRun {
    type Output = Settled;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Settled> {
        loop {
            match &mut self.stage {
                Stage::Asking(waiting) => {
                    let settled = ready!(waiting.as_mut().poll(cx));
                    return self.finish(settled);
                }
                Stage::Queued(_) => {
                    if let Err(settled) = ready!(self.poll_permits(cx)) {
                        return self.finish(settled);
                    }
                }
                Stage::Ready => {
                    let now = self.batch.clock.now();
                    match self.enter(now, cx) {
                        Some(settled) => return self.finish(settled),
                        // Middleware has been started, and not been polled.
                        None if self.track.is_some() => {}
                        None => return Poll::Pending,
                    }
                }
                Stage::Running(body) => {
                    let polled = isolate::catch(|| body.as_mut().poll(cx).map(|returned| returned.map(Box::new)));
                    let returned = match polled {
                        Ok(Poll::Pending) => return Poll::Pending,
                        Ok(Poll::Ready(returned)) => Ok(returned),
                        Err(panicked) => Err(panicked),
                    };
                    let settled = self.ended(returned);
                    return self.finish(settled);
                }
                // Polled after its end: nothing more will come.
                Stage::Done => return Poll::Pending,
            }
        }
    }
}

impl Drop for CallRun {
    fn drop(&mut self) {
        self.leave();
    }
}

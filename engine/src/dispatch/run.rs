//! run: starts the admitted calls by their execution class and waits for all of them at once.
//!
//! One wait for everything: results, the earliest deadline, cancellation, the end of a provider. The timer and the
//! registrations are made only when something is pending after the first poll.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::task::JoinHandle;
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use super::call_run::CallRun;
use super::delivery::{CallTask, Delivery};
use super::ordered::Ordered;
use super::running::Admitted;
use super::settled::Settled;
use super::{CancelReason, Moment, RunningBatch};
use crate::engine::Engine;
use crate::registry::ProviderHandle;
use crate::result::{CallError, ErrorCode, Executed};
use crate::text;
use crate::tool::ExecutionClass;

/// What a task costs, about. A call that takes less is done sooner in place, and is not counted against the budget.
const COST_OF_TASK: Duration = Duration::from_nanos(500);

/// Runs the admitted calls. The result holds the end of each admitted call, in their order.
pub(super) async fn run(engine: &Engine, batch: &Arc<RunningBatch>) -> Vec<Option<Settled>> {
    let mut runner = Runner::new(batch);
    // A batch that was cancelled before it began enters no tool.
    runner.heed_cancel(batch.cancel.as_ref().is_some_and(CancellationToken::is_cancelled));
    runner.start_tasks();
    runner.start_in_place(engine.limits.in_place_budget);
    if runner.open > 0 {
        runner.watch();
        std::future::poll_fn(|cx| runner.poll_round(cx)).await;
    }
    std::mem::take(&mut runner.slots)
}

/// The calls of one batch while they run. Dropping it cancels what is still open.
struct Runner<'a> {
    batch: &'a Arc<RunningBatch>,
    slots: Vec<Option<Settled>>,
    open: usize,
    /// Calls that were polled in place and are pending.
    parked: Option<FuturesUnordered<Parked>>,
    /// Calls in tasks of their own.
    tasks: Vec<(usize, JoinHandle<()>)>,
    /// The providers of open calls; each resolves when its incarnation has ended.
    ended: Option<FuturesUnordered<BoxFuture<'static, Arc<ProviderHandle>>>>,
    cancelled: Option<BoxFuture<'static, ()>>,
    timer: Option<Pin<Box<Sleep>>>,
    ordered: Ordered,
}

struct Parked {
    place: usize,
    /// Gone when the call was given up. The rest of it stays in its set: moving its siblings to a new set would lose
    /// the wake-ups that they wait for.
    run: Option<CallRun>,
}

// === impl Runner ===

impl<'a> Runner<'a> {
    fn new(batch: &'a Arc<RunningBatch>) -> Self {
        let calls = batch.admitted.len();
        Self {
            batch,
            slots: (0..calls).map(|_| None).collect(),
            open: calls,
            parked: None,
            tasks: Vec::new(),
            ended: None,
            cancelled: None,
            timer: None,
            ordered: Ordered::of(batch),
        }
    }

    /// Starts what does not run in place, first, so that other threads can take it while this one goes on.
    fn start_tasks(&mut self) {
        for place in 0..self.slots.len() {
            if self.runs_apart(place)
                && !self.ordered.waits(place)
                && let Some(run) = self.begin(place)
            {
                self.spawn(place, run, self.batch.tool(place).class == ExecutionClass::Blocking);
            }
        }
    }

    /// Polls each other call once. When the tools' own code has used up its time, the rest become tasks: those that only
    /// wait lose little by it, those that compute get the other cores.
    fn start_in_place(&mut self, budget: Duration) {
        let mut left = budget;
        // The end of one call is the beginning of the next: the clock is read once for each.
        let mut now = self.batch.clock.now();
        for place in 0..self.slots.len() {
            if self.runs_apart(place) || self.ordered.waits(place) {
                continue;
            }
            let Some(mut run) = self.begin(place) else { continue };
            if left.is_zero() {
                self.spawn(place, run, false);
                continue;
            }
            let began = now;
            match run.poll_first(began, &mut Context::from_waker(Waker::noop())) {
                Poll::Ready(settled) => {
                    now = settled.ended;
                    self.settle(place, settled);
                }
                Poll::Pending => {
                    now = self.batch.clock.now();
                    self.park(place, run);
                }
            }
            left = left.saturating_sub(now.since(began).saturating_sub(COST_OF_TASK));
        }
    }

    fn park(&mut self, place: usize, run: CallRun) {
        self.parked.get_or_insert_default().push(Parked { place, run: Some(run) });
    }

    /// Whether the call gets a task or a thread. One that waits for a person only waits.
    fn runs_apart(&self, place: usize) -> bool {
        matches!(self.batch.tool(place).class, ExecutionClass::Task | ExecutionClass::Blocking) && !self.waits(place)
    }

    /// Whether the call waits for a person.
    fn waits(&self, place: usize) -> bool {
        self.batch.admitted[place].waiting.is_some()
    }

    /// Starts a call. Gives nothing for one that has settled, also just now, since its provider has closed.
    #[inline]
    fn begin(&mut self, place: usize) -> Option<CallRun> {
        if self.slots[place].is_some() {
            return None;
        }
        let (batch, waits) = (self.batch, self.waits(place));
        if let Some(events) = &batch.events {
            let admitted = &batch.admitted[place];
            match &admitted.waiting {
                None => events.started(admitted.index, batch.call(place)),
                Some(waiting) => events.approval_required(admitted.index, batch.call(place), &waiting.notice()),
            }
        }
        let tool = batch.tool(place);
        if batch.admitted[place].is_ordered && !waits {
            batch.admitted[place].deadline.start_at(batch.clock.now(), batch.ends, tool.timeout);
        }
        if !waits && let Err(error) = tool.handle.enter(batch.context.locale) {
            self.settle(place, Settled::error(error, Executed::No, batch.clock.now()));
            return None;
        }
        Some(CallRun::new(batch, place))
    }

    fn spawn(&mut self, place: usize, run: CallRun, blocking: bool) {
        self.batch.outbox.expect_one();
        let task = match (blocking, run.is_queued()) {
            (false, _) => tokio::spawn(CallTask::new(run)),
            (true, false) => Delivery::of(self.batch, place).spawn_blocking(run),
            // Waiting for a permit takes no thread from other tools.
            (true, true) => {
                let delivery = Delivery::of(self.batch, place);
                tokio::spawn(async move {
                    match run.admitted().await {
                        Ok(run) => drop(delivery.spawn_blocking(run)),
                        Err(settled) => delivery.deliver(settled),
                    }
                })
            }
        };
        self.tasks.push((place, task));
    }

    /// Registers for the ends of the providers that open calls depend on, and for the caller's cancellation.
    fn watch(&mut self) {
        let mut watched: Vec<*const ProviderHandle> = Vec::new();
        for place in 0..self.slots.len() {
            let handle = &self.batch.tool(place).handle;
            if self.slots[place].is_none() && !self.waits(place) && !watched.contains(&Arc::as_ptr(handle)) {
                watched.push(Arc::as_ptr(handle));
                let handle = Arc::clone(handle);
                let ended = async move {
                    handle.ended.cancelled().await;
                    handle
                };
                self.ended.get_or_insert_default().push(Box::pin(ended));
            }
        }
        self.cancelled = self
            .batch
            .cancel
            .clone()
            .map(|token| -> BoxFuture<'static, ()> { Box::pin(async move { token.cancelled().await }) });
    }

    /// Looks once at everything that can settle a call. What has come by now comes first, since the end of a call is
    /// its end; then cancellation, so that calls that are always ready never starve it.
    fn poll_round(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.batch.outbox.register(cx.waker());
        for (place, settled) in self.batch.outbox.take() {
            self.settle(place, settled);
        }
        self.poll_cancel(cx);
        while let Poll::Ready(Some(handle)) = poll_next(&mut self.ended, cx) {
            self.provider_ended(&handle);
        }
        loop {
            while let Poll::Ready(Some((place, settled))) = poll_next(&mut self.parked, cx) {
                self.settle(place, settled);
            }
            if self.start_next_ordered() {
                continue;
            }
            if self.open == 0 {
                return Poll::Ready(());
            }
            if self.poll_timer(cx).is_pending() {
                return Poll::Pending;
            }
            self.expire(self.batch.clock.now());
        }
    }

    /// Starts the next of the ordered calls once the one before has settled, whatever its end. Says whether there is
    /// something to look at.
    fn start_next_ordered(&mut self) -> bool {
        let Some(place) = self.ordered.next(&self.slots) else { return false };
        // What the one before did may have been to cancel the rest.
        self.heed_cancel(self.batch.cancel.as_ref().is_some_and(CancellationToken::is_cancelled));
        let Some(run) = self.begin(place) else { return true };
        self.ordered.started(place);
        match self.batch.tool(place).class {
            ExecutionClass::Task => self.spawn(place, run, false),
            ExecutionClass::Blocking => self.spawn(place, run, true),
            ExecutionClass::Io | ExecutionClass::Inline => self.park(place, run),
        }
        true
    }

    fn poll_cancel(&mut self, cx: &mut Context<'_>) {
        self.batch.control.register(cx.waker());
        let from_outside = self.cancelled.as_mut().is_some_and(|cancelled| cancelled.as_mut().poll(cx).is_ready());
        if from_outside {
            self.cancelled = None;
        }
        self.heed_cancel(from_outside);
    }

    fn heed_cancel(&mut self, from_outside: bool) {
        if let Some(reason) = self.batch.control.reason().or(from_outside.then_some(CancelReason::Batch)) {
            let error = text::cancelled(self.batch.context.locale, reason.code());
            self.abandon(|_, _| true, |_, _| error.clone());
            return;
        }
        for call_id in self.batch.control.take_cancelled_calls() {
            let error = text::cancelled(self.batch.context.locale, ErrorCode::CancelledCall);
            self.abandon(|batch, place| batch.call(place).call_id == call_id, |_, _| error.clone());
        }
    }

    fn provider_ended(&mut self, handle: &Arc<ProviderHandle>) {
        let error = handle.why_ended(self.batch.context.locale);
        // What waits for a person needs no provider yet.
        let concerned = |batch: &RunningBatch, place: usize| {
            batch.admitted[place].waiting.is_none() && Arc::ptr_eq(&batch.tool(place).handle, handle)
        };
        self.abandon(concerned, |_, _| error.clone());
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let open = self.slots.iter().zip(&self.batch.admitted).filter(|(slot, _)| slot.is_none());
        let Some(earliest) = open.map(|(_, admitted)| admitted.deadline.get()).min() else { return Poll::Pending };
        let earliest = self.batch.clock.instant(earliest);
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(earliest)));
        if timer.deadline() != earliest {
            timer.as_mut().reset(earliest);
        }
        timer.as_mut().poll(cx)
    }

    fn expire(&mut self, now: Moment) {
        let locale = self.batch.context.locale;
        self.abandon(
            |batch, place| batch.admitted[place].deadline.get() <= now,
            |admitted, entered| match &admitted.waiting {
                Some(waiting) if !waiting.has_begun() => text::approval_late(locale, admitted.deadline.length()),
                _ => text::deadline(locale, admitted.deadline.length(), entered),
            },
        );
    }

    /// Settles open calls without their tools' answer, and tells the tools.
    fn abandon(
        &mut self,
        concerned: impl Fn(&RunningBatch, usize) -> bool,
        why: impl Fn(&Admitted, bool) -> CallError,
    ) {
        let places: Vec<usize> = (0..self.slots.len())
            .filter(|place| self.slots[*place].is_none() && concerned(self.batch, *place))
            .collect();
        if places.is_empty() {
            return;
        }
        let now = self.batch.clock.now();
        for &place in &places {
            let was_entered = self.batch.give_up(place);
            let error = why(&self.batch.admitted[place], was_entered);
            self.settle(place, Settled::given_up(error, was_entered, now));
        }
        for (_, task) in self.tasks.iter().filter(|(place, _)| places.contains(place)) {
            task.abort();
        }
        for parked in self.parked.iter_mut().flatten().filter(|parked| places.contains(&parked.place)) {
            parked.run = None;
        }
    }

    /// The first end of a call is its end; whatever comes later is dropped.
    #[inline]
    fn settle(&mut self, place: usize, settled: Settled) {
        if self.slots[place].is_some() {
            return;
        }
        if let Some(events) = &self.batch.events {
            let index = self.batch.admitted[place].index;
            events.settled(index, self.batch.call(place), settled.status, settled.ended.elapsed());
        }
        self.slots[place] = Some(settled);
        self.open -= 1;
        self.ordered.left(place);
    }
}

/// The next of some futures that is ready; pending where there are none.
fn poll_next<F: Future>(futures: &mut Option<FuturesUnordered<F>>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
    futures.as_mut().map_or(Poll::Pending, |futures| futures.poll_next_unpin(cx))
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        if self.open == 0 {
            return;
        }
        for (place, slot) in self.slots.iter().enumerate() {
            if slot.is_none() {
                self.batch.give_up(place);
            }
        }
        for (_, task) in &self.tasks {
            task.abort();
        }
    }
}

// === impl Parked ===

impl Future for Parked {
    type Output = (usize, Settled);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.run {
            Some(run) => Pin::new(run).poll(cx).map(|settled| (self.place, settled)),
            None => Poll::Pending,
        }
    }
}

//! ProviderActor: owns one provider from its registration to its end.
//!
//! It starts incarnations, watches them, starts them again with back-off, reloads them, and reports every change to the
//! registry. It never waits for a provider in a handler: whatever takes time is a task that it owns and that tells it
//! the end.

use std::sync::Arc;
use std::time::Duration;

use kameo::Actor;
use kameo::actor::{ActorRef, WeakActorRef};
use kameo::error::Infallible;
use kameo::message::{Context, Message};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::registry_actor::{Change, RegistryActor, Report};
use super::slot::Reply;
use super::start::{self, Blueprint, StartFailure, Started};
use super::tell;
use super::watch::watch;
use crate::metrics;
use crate::provider::{ProviderEvent, Reason};
use crate::registry::{Life, Listing, PreparedTool, ProviderHandle, RegistryError};

/// Owns one provider.
pub(super) struct ProviderActor {
    charge: Charge,
    me: WeakActorRef<Self>,
    current: Option<Incarnation>,
    /// The start that is under way, of a first, a next or a reloaded incarnation.
    attempt: Option<Attempt>,
    /// Incarnations in a row that did not start or did not last, whatever their calls came to: for the waits.
    failures: u32,
}

/// What a provider actor is in charge of; the same for each of its own incarnations.
#[derive(Clone)]
pub(super) struct Charge {
    pub(super) blueprint: Arc<Blueprint>,
    pub(super) registry: WeakActorRef<RegistryActor>,
    /// Tells this registration from an earlier one of the same name.
    pub(super) serial: u64,
    pub(super) tracker: TaskTracker,
    pub(super) shutdown: CancellationToken,
}

struct Attempt {
    _task: AbortOnDropHandle<()>,
    /// Before this it only waits.
    begins: Instant,
    /// Whether someone asked for it, as against the next try after a failure.
    asked: bool,
    reloads: Vec<Reply>,
    /// One more is wanted when it has ended, by these.
    again: Option<Vec<Reply>>,
}

/// An incarnation that is up.
struct Incarnation {
    charge: Charge,
    handle: Arc<ProviderHandle>,
    tools: Vec<Arc<PreparedTool>>,
    since: Instant,
    _watch: AbortOnDropHandle<()>,
    listing: Option<AbortOnDropHandle<()>>,
    /// The tools changed again while they were being listed.
    stale: bool,
    /// Its end is in the hands of a task.
    retired: bool,
}

/// A start has ended.
struct Attempted(Result<Started, StartFailure>);

/// Something happened to an incarnation.
pub(super) struct Happened(pub(super) Arc<ProviderHandle>, pub(super) ProviderEvent);

/// The tools of an incarnation were listed again.
struct Relisted(Arc<ProviderHandle>, Result<Listing, String>);

/// Make a fresh incarnation and swap it in.
pub(super) struct ReloadProvider(pub(super) Reply);

/// End in good order and tell when it is done.
pub(super) struct Retire {
    pub(super) drain: Duration,
    pub(super) life: Life,
    pub(super) done: Reply,
}

// === impl ProviderActor ===

impl Actor for ProviderActor {
    type Args = Charge;
    type Error = Infallible;

    async fn on_start(charge: Charge, me: ActorRef<Self>) -> Result<Self, Infallible> {
        let mut actor = Self { charge, me: me.downgrade(), current: None, attempt: None, failures: 0 };
        actor.begin(Duration::ZERO, false, Vec::new());
        Ok(actor)
    }
}

impl ProviderActor {
    fn begin(&mut self, delay: Duration, asked: bool, reloads: Vec<Reply>) {
        let (blueprint, me) = (Arc::clone(&self.charge.blueprint), self.me.clone());
        let task = tokio::spawn(async move {
            let started = start::start(&blueprint, delay).await;
            metrics::record_start(&blueprint.name, started.is_ok());
            tell(&me, Attempted(started)).await;
        });
        let (task, begins) = (AbortOnDropHandle::new(task), Instant::now() + delay);
        self.attempt = Some(Attempt { _task: task, begins, asked, reloads, again: None });
    }

    /// A start that is under way may have read what is out of date by now: it goes on, since requests that come faster
    /// than starts would else keep the provider from ever starting, and one more follows. One that still waits begins
    /// after `delay` at the latest.
    fn reload(&mut self, delay: Duration, done: Option<Reply>) {
        let now = Instant::now();
        match &mut self.attempt {
            Some(attempt) if attempt.begins <= now => attempt.again.get_or_insert_default().extend(done),
            Some(attempt) if attempt.asked && attempt.begins <= now + delay => attempt.reloads.extend(done),
            waiting => {
                let mut reloads = waiting.take().map(|attempt| attempt.reloads).unwrap_or_default();
                reloads.extend(done);
                self.begin(delay, true, reloads);
            }
        }
    }

    /// Gives the incarnation before, which serves until the change is published.
    fn up(&mut self, (handle, listing): Started) -> (Change, Option<Incarnation>) {
        for rejected in &listing.rejected {
            tracing::warn!(provider = %handle.name, tool = rejected.name, reason = rejected.reason, "tool left out");
        }
        for warning in &listing.warnings {
            tracing::warn!(provider = %handle.name, tool = warning.name, remark = warning.message, "remark");
        }
        let next = Incarnation::new(&self.charge, &self.me, Arc::clone(&handle), listing.tools.clone());
        (Change::Up(handle, listing), self.current.replace(next))
    }

    fn down(&mut self, reason: String) -> Change {
        let long = self.charge.blueprint.settings.backoff.max;
        let lasted = self.current.take().is_some_and(|ended| ended.since.elapsed() > long);
        self.failures = if lasted { 1 } else { self.failures.saturating_add(1) };
        // A reload that is under way is the next attempt already.
        let wait = match &self.attempt {
            Some(attempt) => attempt.begins.saturating_duration_since(Instant::now()),
            None => {
                let wait = self.charge.blueprint.settings.backoff.wait(self.failures);
                self.begin(wait, false, Vec::new());
                wait
            }
        };
        if let Some(breaker) = &self.charge.blueprint.breaker {
            breaker.restarting(lasted, wait);
        }
        Change::Down(reason)
    }

    /// Nothing is tried until somebody asks for it.
    fn down_for_good(&mut self, reason: String) -> Change {
        self.failures = 0;
        if let Some(breaker) = &self.charge.blueprint.breaker {
            breaker.restarted();
        }
        Change::Down(reason)
    }

    /// Gives what resolves when calls can see the change, or when there is no registry any more to publish it.
    async fn report(&self, change: Change) -> oneshot::Receiver<()> {
        let (published, seen) = oneshot::channel();
        let name = Arc::clone(&self.charge.blueprint.name);
        tell(&self.charge.registry, Report { name, serial: self.charge.serial, change, published }).await;
        seen
    }

    fn is_current(&self, handle: &Arc<ProviderHandle>) -> bool {
        self.current.as_ref().is_some_and(|current| Arc::ptr_eq(&current.handle, handle))
    }
}

impl Message<Attempted> for ProviderActor {
    type Reply = ();

    async fn handle(&mut self, Attempted(started): Attempted, _ctx: &mut Context<Self, ()>) {
        let Some(Attempt { asked, reloads, again, .. }) = self.attempt.take() else { return };
        self.attempted(started, asked, reloads).await;
        if let Some(again) = again {
            // Takes the place of the next try after a failure.
            self.begin(Duration::ZERO, true, again);
        }
    }
}

impl ProviderActor {
    async fn attempted(&mut self, started: Result<Started, StartFailure>, asked: bool, reloads: Vec<Reply>) {
        let StartFailure { reason, mends_itself } = match started {
            Ok(started) => {
                self.tell_breaker(asked);
                let (change, before) = self.up(started);
                let (seen, drain) = (self.report(change).await, self.charge.blueprint.settings.drain);
                self.charge.tracker.spawn(async move {
                    seen.await.ok();
                    if let Some(before) = before {
                        before.retire(drain, Life::Closed, None);
                    }
                    for reload in reloads {
                        drop(reload.send(Ok(())));
                    }
                });
                return;
            }
            Err(failure) => failure,
        };
        let name = &self.charge.blueprint.name;
        let failed = RegistryError::StartFailed { name: name.to_string(), reason: reason.clone() };
        if self.current.is_some() {
            // A failed reload leaves the old incarnation as it is.
            tracing::warn!(provider = %name, reason, "reload failed");
            drop(self.report(Change::Kept(reason)).await);
        } else {
            let change = if mends_itself { self.down(reason) } else { self.down_for_good(reason) };
            drop(self.report(change).await);
        }
        for reload in reloads {
            drop(reload.send(Err(failed.clone())));
        }
    }

    /// A start that someone asked for may have mended what was broken.
    fn tell_breaker(&self, asked: bool) {
        match &self.charge.blueprint.breaker {
            Some(breaker) if asked => breaker.reset(),
            Some(breaker) => breaker.restarted(),
            None => {}
        }
    }
}

impl Message<Happened> for ProviderActor {
    type Reply = ();

    async fn handle(&mut self, Happened(handle, event): Happened, _ctx: &mut Context<Self, ()>) {
        if !self.is_current(&handle) {
            return;
        }
        match event {
            ProviderEvent::ToolsChanged => {
                if let Some(current) = &mut self.current {
                    current.list_again(&self.me);
                }
            }
            ProviderEvent::Outdated(Reason(reason)) => {
                tracing::info!(provider = %handle.name, reason, "reloading");
                self.reload(self.charge.blueprint.settings.backoff.first, None);
            }
            ProviderEvent::Ended(Reason(reason)) => {
                // Before its calls hear of it: one of them may be the probe, and it has failed.
                if let (Some(breaker), Some(current)) = (&self.charge.blueprint.breaker, &self.current) {
                    breaker.crashed(current.since, &reason);
                }
                handle.end(Life::Crashed, &reason);
                let change = self.down(reason);
                drop(self.report(change).await);
            }
        }
    }
}

impl Message<Relisted> for ProviderActor {
    type Reply = ();

    async fn handle(&mut self, Relisted(handle, listing): Relisted, _ctx: &mut Context<Self, ()>) {
        let Some(current) = self.current.as_mut().filter(|current| Arc::ptr_eq(&current.handle, &handle)) else {
            return;
        };
        current.listing = None;
        if std::mem::take(&mut current.stale) {
            current.list_again(&self.me);
            return;
        }
        match listing {
            Ok(listing) => {
                current.tools.clone_from(&listing.tools);
                drop(self.report(Change::Up(handle, listing)).await);
            }
            Err(reason) => tracing::warn!(provider = %handle.name, reason, "tools could not be listed again"),
        }
    }
}

impl Message<ReloadProvider> for ProviderActor {
    type Reply = ();

    async fn handle(&mut self, ReloadProvider(done): ReloadProvider, _ctx: &mut Context<Self, ()>) {
        if let Some(breaker) = &self.charge.blueprint.breaker {
            breaker.reset();
        }
        self.reload(Duration::ZERO, Some(done));
    }
}

impl Message<Retire> for ProviderActor {
    type Reply = ();

    async fn handle(&mut self, retire: Retire, ctx: &mut Context<Self, ()>) {
        self.attempt = None;
        match self.current.take() {
            Some(current) => current.retire(retire.drain, retire.life, Some(retire.done)),
            None => drop(retire.done.send(Ok(()))),
        }
        ctx.stop();
    }
}

// === impl Incarnation ===

impl Incarnation {
    fn new(
        charge: &Charge,
        me: &WeakActorRef<ProviderActor>,
        handle: Arc<ProviderHandle>,
        tools: Vec<Arc<PreparedTool>>,
    ) -> Self {
        let watch = AbortOnDropHandle::new(tokio::spawn(watch(me.clone(), Arc::clone(&handle))));
        let since = Instant::now();
        Self {
            charge: charge.clone(),
            handle,
            tools,
            since,
            _watch: watch,
            listing: None,
            stale: false,
            retired: false,
        }
    }

    /// A change that comes while the tools are being listed makes that listing out of date.
    fn list_again(&mut self, me: &WeakActorRef<ProviderActor>) {
        if self.listing.is_some() {
            self.stale = true;
            return;
        }
        let (me, blueprint) = (me.clone(), Arc::clone(&self.charge.blueprint));
        let (handle, before) = (Arc::clone(&self.handle), self.tools.clone());
        let task = tokio::spawn(async move {
            let listing = start::list_again(&blueprint, &handle, &before).await;
            tell(&me, Relisted(handle, listing)).await;
        });
        self.listing = Some(AbortOnDropHandle::new(task));
    }

    fn retire(mut self, drain: Duration, life: Life, done: Option<Reply>) {
        let (blueprint, handle) = (Arc::clone(&self.charge.blueprint), Arc::clone(&self.handle));
        let shutdown = self.charge.shutdown.clone();
        handle.end(Life::Draining, "it was replaced or removed");
        self.retired = true;
        self.charge.tracker.spawn(async move {
            start::retire(blueprint, handle, drain, life, shutdown).await;
            if let Some(done) = done {
                drop(done.send(Ok(())));
            }
        });
    }
}

impl Drop for Incarnation {
    /// An incarnation that was not retired has crashed, or its actor has: its calls end now.
    fn drop(&mut self) {
        if self.retired {
            return;
        }
        if matches!(self.handle.life(), Life::Up | Life::Watched) {
            self.handle.end(Life::Crashed, "its actor stopped");
        }
        let (handle, limit) = (Arc::clone(&self.handle), self.charge.blueprint.settings.close_timeout);
        if tokio::runtime::Handle::try_current().is_ok() {
            self.charge.tracker.spawn(async move { start::close(&handle, limit).await });
        }
    }
}

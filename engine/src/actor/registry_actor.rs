//! RegistryActor: knows every provider in order of precedence and publishes the routing table.
//!
//! It takes batches to be run in tasks of its own, and otherwise sees no call.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use kameo::Actor;
use kameo::actor::{ActorId, ActorRef, Spawn, WeakActorRef};
use kameo::error::{ActorStopReason, Infallible, PanicError};
use kameo::mailbox;
use kameo::message::{Context, Message};
use kameo::supervision::RestartPolicy;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use super::provider_actor::{Charge, ProviderActor, ReloadProvider};
use super::slot::{Reply, Slot};
use super::start::Blueprint;
use super::status::SharedStatus;
use crate::approval;
use crate::call::ToolBatch;
use crate::dispatch::{self, BatchControl, EventSender, Registered};
use crate::engine::Engine;
use crate::isolate::Isolated;
use crate::provider::{ProviderConnector, ProviderKind, ProviderSettings};
use crate::registry::{BreakerState, Life, Listing, ProviderHandle, ProviderState, RegistryError, RoutingTable};
use crate::result::BatchOutcome;
use crate::session;

/// How often what calls have counted is handed over to the recorder.
const METRICS_EVERY: Duration = Duration::from_secs(5);

/// A provider actor that panics this often within a minute is given up.
const RESTARTS_PER_MINUTE: u32 = 5;

/// Knows every provider.
pub(super) struct RegistryActor {
    engine: Arc<Engine>,
    status: Arc<SharedStatus>,
    /// In order of precedence.
    providers: Vec<Slot>,
    next_serial: u64,
    _metrics: AbortOnDropHandle<()>,
    /// Keeps sessions that changed.
    _writer: AbortOnDropHandle<()>,
    /// Ends approvals in time, and keeps those that changed.
    _approvals: [AbortOnDropHandle<()>; 2],
}

/// Register a provider; `registered` hears when it can be found, `started` of its first start.
pub(super) struct Register {
    pub(super) name: Arc<str>,
    pub(super) kind: ProviderKind,
    pub(super) connector: Isolated<Arc<dyn ProviderConnector>>,
    pub(super) settings: ProviderSettings,
    pub(super) registered: oneshot::Sender<()>,
    pub(super) started: Reply,
}

/// Take a provider out.
pub(super) struct Unregister {
    pub(super) name: String,
    pub(super) done: Reply,
}

/// Make a fresh incarnation of a provider.
pub(super) struct Reload {
    pub(super) name: String,
    pub(super) done: Reply,
}

/// A provider has changed.
pub(super) struct Report {
    pub(super) name: Arc<str>,
    pub(super) serial: u64,
    pub(super) change: Change,
    /// Hears when calls can see the change.
    pub(super) published: oneshot::Sender<()>,
}

/// How a provider has changed.
pub(super) enum Change {
    /// It is up, with these tools.
    Up(Arc<ProviderHandle>, Listing),
    /// It is down, for this reason.
    Down(String),
    /// It could not be reloaded, for this reason, and is what it was.
    Kept(String),
}

/// Run a batch in a task of the registry.
pub(super) struct Dispatch {
    pub(super) batch: ToolBatch,
    pub(super) control: Arc<BatchControl>,
    pub(super) events: EventSender,
    pub(super) outcome: oneshot::Sender<BatchOutcome>,
    pub(super) registered: Registered,
}

/// Close every provider.
pub(super) struct Close {
    pub(super) done: oneshot::Sender<()>,
}

// === impl RegistryActor ===

impl Actor for RegistryActor {
    type Args = (Arc<Engine>, Arc<SharedStatus>);
    type Error = Infallible;

    async fn on_start((engine, status): Self::Args, _me: ActorRef<Self>) -> Result<Self, Infallible> {
        let metrics = AbortOnDropHandle::new(tokio::spawn(publish_metrics(Arc::clone(&engine))));
        let writer = AbortOnDropHandle::new(tokio::spawn(session::write_behind(Arc::clone(&engine))));
        let approvals = [
            AbortOnDropHandle::new(tokio::spawn(approval::keep_time(Arc::clone(&engine)))),
            AbortOnDropHandle::new(tokio::spawn(approval::write_behind(Arc::clone(&engine)))),
        ];
        let providers = Vec::new();
        Ok(Self {
            engine,
            status,
            providers,
            next_serial: 0,
            _metrics: metrics,
            _writer: writer,
            _approvals: approvals,
        })
    }

    /// Nothing of a provider's runs in a handler, so a panic here is the engine's own; the providers go on all the same.
    async fn on_panic(
        &mut self,
        _me: WeakActorRef<Self>,
        _panic: PanicError,
    ) -> Result<ControlFlow<ActorStopReason>, Infallible> {
        tracing::error!("the registry actor panicked and goes on");
        Ok(ControlFlow::Continue(()))
    }

    /// A provider actor that was given up costs its own tools, nobody else's.
    async fn on_link_died(
        &mut self,
        _me: WeakActorRef<Self>,
        id: ActorId,
        reason: ActorStopReason,
    ) -> Result<ControlFlow<ActorStopReason>, Infallible> {
        if let Some(place) = self.providers.iter().position(|slot| slot.actor.id() == id) {
            tracing::error!(provider = %self.providers[place].name, %reason, "provider actor was given up");
            self.providers[place].fail(ProviderState::Failed, "its actor failed too often".to_owned());
            self.publish();
            self.providers[place].after_publication();
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Embedders need not remember to.
async fn publish_metrics(engine: Arc<Engine>) {
    let mut ticks = tokio::time::interval(METRICS_EVERY);
    loop {
        ticks.tick().await;
        engine.publish_metrics();
    }
}

impl RegistryActor {
    /// Publishes the routing table and the state of every provider.
    fn publish(&self) {
        let tools = self.providers.iter().flat_map(|slot| &slot.listing.tools);
        let starting = self.providers.iter().filter_map(Slot::starting).collect();
        let mut table = RoutingTable::following(&self.engine.table.load(), tools, starting);
        table.guides = self.providers.iter().filter_map(|slot| slot.listing.guide.clone()).collect();
        for shadow in &table.shadowed {
            tracing::warn!(hidden = %shadow.hidden, by = %shadow.by, "tool is shadowed by another of its name");
        }
        let generation = table.generation;
        self.engine.table.store(Arc::new(table));
        self.engine.published.send_replace(generation);
        self.status.publish(self.providers.iter().map(Slot::published).collect());
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.providers.iter().position(|slot| *slot.name == *name)
    }
}

impl Message<Register> for RegistryActor {
    type Reply = ();

    async fn handle(&mut self, message: Register, ctx: &mut Context<Self, ()>) {
        let Register { name, kind, connector, settings, registered, started } = message;
        let limits = self.engine.limits.clone();
        let labels = Arc::clone(&self.engine.labels);
        let breaker = BreakerState::new(&name, settings.breaker);
        let name_of = Arc::clone(&name);
        let blueprint = Blueprint { name: name_of, kind, connector, settings, breaker, limits, labels };
        let blueprint = Arc::new(blueprint);
        let serial = self.next_serial;
        self.next_serial += 1;
        let charge = Charge {
            blueprint: Arc::clone(&blueprint),
            registry: ctx.actor_ref().downgrade(),
            serial,
            tracker: self.engine.tracker.clone(),
            shutdown: self.engine.shutdown.clone(),
        };
        let actor = ProviderActor::supervise(ctx.actor_ref(), charge)
            .restart_policy(RestartPolicy::Transient)
            .restart_limit(RESTARTS_PER_MINUTE, Duration::from_secs(60))
            .spawn_with_mailbox(mailbox::bounded(self.engine.limits.mailbox_capacity))
            .await;
        let replaced = self.position(&name).map(|position| self.providers.remove(position));
        self.providers.push(Slot::new(name, serial, blueprint, actor, started, replaced));
        self.publish();
        registered.send(()).ok();
    }
}

impl Message<Report> for RegistryActor {
    type Reply = ();

    async fn handle(&mut self, report: Report, _ctx: &mut Context<Self, ()>) {
        let Some(place) =
            self.providers.iter().position(|slot| slot.name == report.name && slot.serial == report.serial)
        else {
            return;
        };
        match report.change {
            Change::Up(handle, listing) => self.providers[place].up(handle, listing),
            Change::Kept(reason) => self.providers[place].keep(&reason),
            Change::Down(reason) => {
                tracing::warn!(provider = %report.name, reason, "provider is down");
                let slot = &mut self.providers[place];
                let is_looping = slot.blueprint.breaker.as_ref().is_some_and(|breaker| breaker.is_looping());
                let state = if is_looping { ProviderState::BreakerOpen } else { ProviderState::Down };
                slot.fail(state, reason);
            }
        }
        self.publish();
        self.providers[place].after_publication();
        report.published.send(()).ok();
    }
}

impl Message<Unregister> for RegistryActor {
    type Reply = ();

    async fn handle(&mut self, Unregister { name, done }: Unregister, _ctx: &mut Context<Self, ()>) {
        match self.position(&name) {
            Some(position) => {
                let slot = self.providers.remove(position);
                let drain = slot.blueprint.settings.drain;
                // First, so that no call finds the tools when the caller is told that they are gone.
                self.publish();
                slot.retire(drain, Life::Closed, done);
            }
            None => drop(done.send(Err(RegistryError::UnknownProvider(name)))),
        }
    }
}

impl Message<Reload> for RegistryActor {
    type Reply = ();

    async fn handle(&mut self, Reload { name, done }: Reload, _ctx: &mut Context<Self, ()>) {
        match self.position(&name) {
            // A full or dead mailbox drops the sender, which tells the caller.
            Some(position) => drop(self.providers[position].actor.tell(ReloadProvider(done)).try_send()),
            None => drop(done.send(Err(RegistryError::UnknownProvider(name)))),
        }
    }
}

impl Message<Dispatch> for RegistryActor {
    type Reply = ();

    async fn handle(&mut self, message: Dispatch, _ctx: &mut Context<Self, ()>) {
        let Dispatch { batch, control, events, outcome, registered } = message;
        let engine = Arc::clone(&self.engine);
        self.engine.tracker.spawn(async move {
            let settled = dispatch::dispatch(&engine, batch, control, Some(events)).await;
            drop(registered);
            drop(outcome.send(settled));
        });
    }
}

impl Message<Close> for RegistryActor {
    type Reply = ();

    /// Goes on until it is stopped: stopping would stop the provider actors before they have ended in order.
    async fn handle(&mut self, Close { done }: Close, _ctx: &mut Context<Self, ()>) {
        let providers = std::mem::take(&mut self.providers);
        self.publish();
        let ends: Vec<_> = providers
            .into_iter()
            .map(|slot| {
                let (sender, receiver) = oneshot::channel();
                slot.retire(Duration::ZERO, Life::Shutdown, sender);
                receiver
            })
            .collect();
        self.engine.tracker.spawn(async move {
            for end in ends {
                drop(end.await);
            }
            done.send(()).ok();
        });
    }
}

//! RegistryMailbox: what the rest of the engine may ask of the registry actor, as plain methods.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kameo::actor::{ActorRef, Spawn};
use kameo::error::SendError;
use kameo::mailbox;
use tokio::sync::{oneshot, watch};

use super::registry_actor::{Close, Dispatch, Register, RegistryActor, Reload, Unregister};
use super::status::SharedStatus;
use crate::call::ToolBatch;
use crate::dispatch::{BatchControl, BatchHandle, BatchesInFlight, EventSender};
use crate::engine::Engine;
use crate::isolate::{self, Isolated};
use crate::provider::{ProviderConnector, ProviderSettings};
use crate::registry::{ProviderStatus, RegistryError};

/// How to reach the registry actor. Cloning shares it; the actor stops when the last clone is gone.
#[derive(Clone)]
pub(crate) struct RegistryMailbox {
    actor: ActorRef<RegistryActor>,
    status: Arc<SharedStatus>,
    capacity: usize,
    timeout: Duration,
}

/// The answer that comes when the work is done, after the message has been taken.
type Done = oneshot::Receiver<Result<(), RegistryError>>;

// === impl RegistryMailbox ===

impl RegistryMailbox {
    pub(crate) fn spawn(engine: &Arc<Engine>) -> Self {
        let status = Arc::new(SharedStatus::default());
        let capacity = engine.limits.mailbox_capacity;
        let actor =
            RegistryActor::spawn_with_mailbox((Arc::clone(engine), Arc::clone(&status)), mailbox::bounded(capacity));
        Self { actor, status, capacity, timeout: engine.limits.control_timeout }
    }

    pub(crate) async fn register(
        &self,
        connector: Arc<dyn ProviderConnector>,
        settings: ProviderSettings,
    ) -> Result<(), RegistryError> {
        self.send_register(connector, settings).await.map(drop)
    }

    pub(crate) async fn register_and_wait(
        &self,
        connector: Arc<dyn ProviderConnector>,
        settings: ProviderSettings,
    ) -> Result<(), RegistryError> {
        done(self.send_register(connector, settings).await?).await
    }

    pub(crate) async fn unregister(&self, name: &str) -> Result<(), RegistryError> {
        let (sender, receiver) = oneshot::channel();
        self.send(Unregister { name: name.to_owned(), done: sender }).await?;
        done(receiver).await
    }

    pub(crate) async fn reload(&self, name: &str) -> Result<(), RegistryError> {
        let (sender, receiver) = oneshot::channel();
        self.send(Reload { name: name.to_owned(), done: sender }).await?;
        done(receiver).await
    }

    pub(crate) async fn start(&self, engine: &Arc<Engine>, batch: ToolBatch) -> Result<BatchHandle, RegistryError> {
        if engine.is_closing() {
            return Err(RegistryError::Closed);
        }
        if engine.batches.len() >= engine.limits.max_batches {
            return Err(RegistryError::TooManyBatches(engine.batches.len()));
        }
        let control = Arc::new(BatchControl::default());
        let registered = BatchesInFlight::register(engine, batch.id.clone(), batch.session.clone(), &control)
            .ok_or_else(|| RegistryError::DuplicateBatch(batch.id.to_string()))?;
        let (event_sender, events) = EventSender::new(batch.calls.len());
        let (outcome_sender, outcome) = oneshot::channel();
        let handle = BatchHandle { id: batch.id.clone(), control: Arc::clone(&control), events, outcome };
        self.send(Dispatch { batch, control, events: event_sender, outcome: outcome_sender, registered }).await?;
        Ok(handle)
    }

    /// Closes every provider and stops the actor.
    pub(crate) async fn close(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.send(Close { done: sender }).await.is_ok() {
            drop(receiver.await);
            self.actor.stop_gracefully().await.ok();
            self.actor.wait_for_shutdown().await;
        }
    }

    pub(crate) fn statuses(&self) -> Vec<ProviderStatus> {
        self.status.statuses()
    }

    /// Changes whenever a provider's state does.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.status.changes()
    }

    /// Messages that wait.
    pub(crate) fn depth(&self) -> usize {
        self.capacity - self.actor.mailbox_sender().capacity().unwrap_or(self.capacity).min(self.capacity)
    }

    async fn send_register(
        &self,
        connector: Arc<dyn ProviderConnector>,
        settings: ProviderSettings,
    ) -> Result<Done, RegistryError> {
        // Asked once and here: were they to panic in the actor, it would take every provider with it.
        let asked = isolate::catch(|| (connector.name().to_owned(), connector.kind()));
        let (name, kind) = asked.map_err(|_panic| RegistryError::StartFailed {
            name: String::new(),
            reason: "its name or kind cannot be told, since that panics".to_owned(),
        })?;
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || name.len() > 64 || !name.chars().all(legal) {
            return Err(RegistryError::InvalidName(name));
        }
        let (registered, taken) = oneshot::channel();
        let (started, receiver) = oneshot::channel();
        let connector = Isolated::new(connector);
        self.send(Register { name: name.into(), kind, connector, settings, registered, started }).await?;
        taken.await.map_err(|_gone| RegistryError::Closed)?;
        Ok(receiver)
    }

    async fn send<M>(&self, message: M) -> Result<(), RegistryError>
    where
        RegistryActor: kameo::message::Message<M>,
        M: Send + 'static,
    {
        match self.actor.tell(message).mailbox_timeout(self.timeout).send().await {
            Ok(()) => Ok(()),
            Err(SendError::MailboxFull(_) | SendError::Timeout(_)) => Err(RegistryError::Busy),
            Err(_) => Err(RegistryError::Closed),
        }
    }
}

/// A sender that is dropped means that the registry has gone.
async fn done(receiver: Done) -> Result<(), RegistryError> {
    receiver.await.unwrap_or(Err(RegistryError::Closed))
}

impl fmt::Debug for RegistryMailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryMailbox")
    }
}

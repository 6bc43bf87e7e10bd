//! The control plane: one RegistryActor, one ProviderActor per provider. The only place that names kameo.
//!
//! Actors own what changes and publish what calls read; no call ever waits in a mailbox.
//!
//! - The registry never awaits a provider in a handler; providers report to it by messages.
//! - An actor only ever tells its supervisor, it never asks it: an ask in a circle would block both for ever.
//! - A provider that dies for good must not take the registry with it: `on_link_died` always continues.
//! - Actors are stopped by a message, never by `kill`, which does nothing after a supervised restart.

mod mailbox;
mod provider_actor;
mod registry_actor;
mod slot;
mod start;
mod status;
mod watch;

use kameo::actor::WeakActorRef;
use kameo::message::Message;

pub(crate) use mailbox::RegistryMailbox;

/// An actor that has gone needs to be told nothing.
async fn tell<A, M>(actor: &WeakActorRef<A>, message: M)
where
    A: Message<M>,
    M: Send + 'static,
{
    if let Some(actor) = actor.upgrade() {
        drop(actor.tell(message).send().await);
    }
}

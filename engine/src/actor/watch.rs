//! Watching an incarnation: what happens to it by itself becomes messages to its actor.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use kameo::actor::WeakActorRef;

use super::provider_actor::{Happened, ProviderActor};
use super::tell;
use crate::provider::{ProviderEvent, Reason};
use crate::registry::ProviderHandle;

/// Passes on what happens to an incarnation, until it has ended.
pub(super) async fn watch(actor: WeakActorRef<ProviderActor>, handle: Arc<ProviderHandle>) {
    loop {
        let next = AssertUnwindSafe(async { handle.invoker.next_event().await }).catch_unwind();
        let event = next.await.unwrap_or_else(|_panic| ProviderEvent::Ended(Reason("it panicked".to_owned())));
        let is_last = matches!(event, ProviderEvent::Ended(_));
        tell(&actor, Happened(Arc::clone(&handle), event)).await;
        if is_last {
            return;
        }
    }
}

//! SharedStatus: the state of every provider, for readers who must not wait for the registry actor.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::registry::{ProviderHandle, ProviderState, ProviderStatus};

/// The state of every provider, as it was last published.
pub(super) struct SharedStatus {
    slots: ArcSwap<Vec<PublishedSlot>>,
    version: watch::Sender<u64>,
}

/// What is published of one provider.
pub(super) struct PublishedSlot {
    pub(super) status: ProviderStatus,
    pub(super) handle: Option<Arc<ProviderHandle>>,
}

// === impl SharedStatus ===

impl SharedStatus {
    pub(super) fn statuses(&self) -> Vec<ProviderStatus> {
        let slots = self.slots.load();
        slots.iter().map(PublishedSlot::now).collect()
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    pub(super) fn publish(&self, slots: Vec<PublishedSlot>) {
        self.slots.store(Arc::new(slots));
        self.version.send_modify(|version| *version += 1);
    }
}

// === impl PublishedSlot ===

impl PublishedSlot {
    /// With what changes from call to call.
    fn now(&self) -> ProviderStatus {
        let mut status = self.status.clone();
        let Some(handle) = &self.handle else { return status };
        status.in_flight = handle.in_flight();
        if status.state == ProviderState::Up
            && let Some(reason) = handle.why_left_alone()
        {
            status.state = ProviderState::BreakerOpen;
            status.reason = Some(reason);
        }
        status
    }
}

impl Default for SharedStatus {
    fn default() -> Self {
        Self { slots: ArcSwap::default(), version: watch::Sender::new(0) }
    }
}

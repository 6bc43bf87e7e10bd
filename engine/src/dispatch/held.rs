//! Held: what a call goes on holding after its future is gone, for as long as its provider says.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedSemaphorePermit;

use crate::registry::ProviderHandle;

/// Permits of the tool and of its provider.
pub(super) type TakenPermits = [Option<OwnedSemaphorePermit>; 2];

/// A place among the calls in flight, with its permits, once the call's own future has left it here.
pub(crate) struct Held {
    handle: Arc<ProviderHandle>,
    left: Mutex<Option<TakenPermits>>,
}

/// The holds of one batch, by their calls' places. Costs nothing until there is one.
#[derive(Default)]
pub(super) struct Holds {
    any: AtomicBool,
    by_place: Mutex<Vec<(usize, Weak<Held>)>>,
}

// === impl Holds ===

impl Holds {
    pub(super) fn hold(&self, place: usize, handle: &Arc<ProviderHandle>) -> Arc<Held> {
        let mut by_place = self.by_place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = by_place.iter().find(|(owner, _)| *owner == place).and_then(|(_, held)| held.upgrade()) {
            return known;
        }
        let held = Arc::new(Held { handle: Arc::clone(handle), left: Mutex::new(None) });
        by_place.retain(|(owner, _)| *owner != place);
        by_place.push((place, Arc::downgrade(&held)));
        self.any.store(true, Ordering::Release);
        held
    }

    /// Leaves what a call holds to whoever holds it on. Says whether nobody does.
    #[inline]
    pub(super) fn leave(&self, place: usize, permits: &mut TakenPermits) -> bool {
        !self.any.load(Ordering::Acquire) || self.leave_to_holder(place, permits)
    }

    fn leave_to_holder(&self, place: usize, permits: &mut TakenPermits) -> bool {
        let by_place = self.by_place.lock().unwrap_or_else(PoisonError::into_inner);
        let held = by_place.iter().find(|(owner, _)| *owner == place).and_then(|(_, held)| held.upgrade());
        drop(by_place);
        match held {
            Some(held) => {
                *held.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::mem::take(permits));
                false
            }
            None => true,
        }
    }
}

// === impl Held ===

impl Drop for Held {
    fn drop(&mut self) {
        let left = self.left.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(permits) = left {
            drop(permits);
            self.handle.leave();
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("provider", &self.handle.name).finish_non_exhaustive()
    }
}

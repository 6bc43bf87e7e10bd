//! ContextProviders: the context providers of an engine, and their store.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::{ContextProvider, KeyValueStore, MemoryKeyValues};

/// Context providers of one engine.
const MAX_PROVIDERS: usize = 64;

type Providers = Vec<Arc<dyn ContextProvider>>;

/// The context providers of an engine, sorted by name, and their store.
pub(crate) struct ContextProviders {
    all: ArcSwap<Providers>,
    store: ArcSwap<Arc<dyn KeyValueStore>>,
}

// === impl ContextProviders ===

impl ContextProviders {
    pub(crate) fn add(&self, provider: Arc<dyn ContextProvider>) -> bool {
        let mut has_room = false;
        self.all.rcu(|present| {
            let mut all = without(present, provider.name());
            has_room = all.len() < MAX_PROVIDERS;
            if has_room {
                all.push(Arc::clone(&provider));
                all.sort_by(|a, b| a.name().cmp(b.name()));
                all
            } else {
                present.to_vec()
            }
        });
        has_room
    }

    pub(crate) fn remove(&self, name: &str) -> bool {
        let before = self.all.rcu(|present| without(present, name));
        before.iter().any(|provider| provider.name() == name)
    }

    pub(crate) fn all(&self) -> Providers {
        self.all.load().to_vec()
    }

    pub(crate) fn set_store(&self, store: Arc<dyn KeyValueStore>) {
        self.store.store(Arc::new(store));
    }

    pub(super) fn store(&self) -> Arc<dyn KeyValueStore> {
        Arc::clone(&self.store.load())
    }
}

fn without(providers: &Providers, name: &str) -> Providers {
    providers.iter().filter(|provider| provider.name() != name).cloned().collect()
}

impl Default for ContextProviders {
    fn default() -> Self {
        Self {
            all: ArcSwap::default(),
            store: ArcSwap::from_pointee(Arc::new(MemoryKeyValues::default()) as Arc<dyn KeyValueStore>),
        }
    }
}

impl fmt::Debug for ContextProviders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all.load();
        f.debug_list().entries(all.iter().map(|provider| provider.name())).finish()
    }
}

//! Components that plugins have switched on or off, everywhere or in one chat. Kept in memory only.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// How many settings are kept.
const MAX_SETTINGS: usize = 4096;

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Switch {
    On,
    Off,
}

#[derive(Debug, Default)]
pub(super) struct Switches {
    /// Most daemons never switch anything, and calls look here.
    is_used: AtomicBool,
    settings: RwLock<BTreeMap<Key, Switch>>,
}

/// Provider, kind, name, and the chat; no chat is everywhere.
type Key = (String, String, String, String);

// === impl Switches ===

impl Switches {
    /// The setting for a chat, else for all chats, else none.
    pub(super) fn get(&self, provider: &str, kind: &str, name: &str, stream_id: &str) -> Option<bool> {
        if !self.is_used.load(Ordering::Acquire) {
            return None;
        }
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
        let here = settings.get(&key(provider, kind, name, stream_id));
        here.or_else(|| settings.get(&key(provider, kind, name, ""))).map(|switch| *switch == Switch::On)
    }

    /// Whether there was room for it.
    pub(super) fn set(&self, provider: &str, kind: &str, name: &str, stream_id: &str, switch: Switch) -> bool {
        let mut settings = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        let key = key(provider, kind, name, stream_id);
        if settings.len() >= MAX_SETTINGS && !settings.contains_key(&key) {
            return false;
        }
        settings.insert(key, switch);
        self.is_used.store(true, Ordering::Release);
        true
    }
}

fn key(provider: &str, kind: &str, name: &str, stream_id: &str) -> Key {
    (provider.to_owned(), kind.to_owned(), name.to_owned(), stream_id.to_owned())
}

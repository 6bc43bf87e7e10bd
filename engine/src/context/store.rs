//! What context providers note for themselves: small values by key.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ahash::RandomState;
use futures::future::BoxFuture;

use crate::json::JsonText;
use crate::session::StoreError;

/// Bytes of a key.
const MAX_KEY: usize = 256;
/// Bytes of a value.
const MAX_VALUE: usize = 64 << 10;
/// Bytes of one space, keys included.
const MAX_SPACE: usize = 1 << 20;
/// Bytes of all spaces.
const MAX_ALL: usize = 64 << 20;

/// Keeps small values of plugins by key.
pub trait KeyValueStore: Send + Sync + fmt::Debug + 'static {
    /// The value of a key.
    ///
    /// # Errors
    /// The store cannot be read.
    fn get<'a>(&'a self, space: &'a StoreSpace, key: &'a str) -> BoxFuture<'a, Result<Option<JsonText>, StoreError>>;

    /// Gives a key a value, or takes it out where there is none.
    ///
    /// # Errors
    /// The store cannot be written, or has no room.
    fn set<'a>(
        &'a self,
        space: &'a StoreSpace,
        key: &'a str,
        value: Option<JsonText>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The keys, sorted.
    ///
    /// # Errors
    /// The store cannot be read.
    fn keys<'a>(&'a self, space: &'a StoreSpace) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;
}

/// Whose values: nobody sees those of another plugin or another tenant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreSpace {
    /// The tenant.
    pub tenant: Arc<str>,
    /// The plugin.
    pub plugin: Arc<str>,
}

/// The values of one plugin for one tenant.
#[derive(Clone, Debug)]
pub struct PluginStore {
    store: Arc<dyn KeyValueStore>,
    space: StoreSpace,
}

/// Keeps values in memory: 64 KiB each, 1 MiB a plugin and tenant, 64 MiB in all.
#[derive(Debug, Default)]
pub struct MemoryKeyValues(Mutex<Spaces>);

#[derive(Debug, Default)]
struct Spaces {
    by_name: HashMap<StoreSpace, Space, RandomState>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Space {
    values: BTreeMap<String, JsonText>,
    bytes: usize,
}

// === impl PluginStore ===

impl PluginStore {
    pub(super) fn new(store: Arc<dyn KeyValueStore>, space: StoreSpace) -> Self {
        Self { store, space }
    }

    /// The value of a key.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn get(&self, key: &str) -> Result<Option<JsonText>, StoreError> {
        self.store.get(&self.space, key).await
    }

    /// Gives a key a value.
    ///
    /// # Errors
    /// The store cannot be written, or has no room.
    pub async fn set(&self, key: &str, value: JsonText) -> Result<(), StoreError> {
        self.store.set(&self.space, key, Some(value)).await
    }

    /// Takes a key out.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn remove(&self, key: &str) -> Result<(), StoreError> {
        self.store.set(&self.space, key, None).await
    }

    /// The keys, sorted.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn keys(&self) -> Result<Vec<String>, StoreError> {
        self.store.keys(&self.space).await
    }
}

// === impl MemoryKeyValues ===

impl MemoryKeyValues {
    fn read<T>(&self, space: &StoreSpace, read: impl FnOnce(&Space) -> T) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_name.get(space).map(read)
    }
}

impl KeyValueStore for MemoryKeyValues {
    fn get<'a>(&'a self, space: &'a StoreSpace, key: &'a str) -> BoxFuture<'a, Result<Option<JsonText>, StoreError>> {
        let found = self.read(space, |space| space.values.get(key).cloned()).flatten();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn set<'a>(
        &'a self,
        space: &'a StoreSpace,
        key: &'a str,
        value: Option<JsonText>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut spaces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let done = match value {
            Some(value) => spaces.set(space, key, value),
            None => {
                spaces.remove(space, key);
                Ok(())
            }
        };
        Box::pin(std::future::ready(done))
    }

    fn keys<'a>(&'a self, space: &'a StoreSpace) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let keys = self.read(space, |space| space.values.keys().cloned().collect()).unwrap_or_default();
        Box::pin(std::future::ready(Ok(keys)))
    }
}

// === impl Spaces ===

impl Spaces {
    fn set(&mut self, name: &StoreSpace, key: &str, value: JsonText) -> Result<(), StoreError> {
        let (key_bytes, value_bytes) = (key.len(), value.as_str().len());
        if key.is_empty() || key_bytes > MAX_KEY {
            return Err(StoreError(format!("a key must have 1 to {MAX_KEY} bytes")));
        }
        if value_bytes > MAX_VALUE {
            return Err(StoreError(format!("a value may have {MAX_VALUE} bytes; this one has {value_bytes}")));
        }
        let present = self.by_name.get(name);
        let of_space = present.map_or(0, |space| space.bytes);
        let before =
            present.and_then(|space| space.values.get(key)).map_or(0, |value| key_bytes + value.as_str().len());
        let more = key_bytes + value_bytes;
        if of_space - before + more > MAX_SPACE {
            return Err(StoreError(format!("a plugin may keep {MAX_SPACE} bytes; remove something first")));
        }
        if self.bytes - before + more > MAX_ALL {
            return Err(StoreError("there is no room for more values".to_owned()));
        }
        self.bytes = self.bytes - before + more;
        let space = self.by_name.entry(name.clone()).or_default();
        space.bytes = of_space - before + more;
        space.values.insert(key.to_owned(), value);
        Ok(())
    }

    fn remove(&mut self, name: &StoreSpace, key: &str) {
        let Some(space) = self.by_name.get_mut(name) else { return };
        let Some(value) = space.values.remove(key) else { return };
        let bytes = key.len() + value.as_str().len();
        space.bytes -= bytes;
        self.bytes -= bytes;
        if space.values.is_empty() {
            self.by_name.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(tenant: &str, plugin: &str) -> StoreSpace {
        StoreSpace { tenant: tenant.into(), plugin: plugin.into() }
    }

    fn text(bytes: usize) -> JsonText {
        JsonText::string(&"x".repeat(bytes - 2))
    }

    #[tokio::test]
    async fn nobody_sees_the_values_of_another_plugin_or_tenant() {
        let store: Arc<dyn KeyValueStore> = Arc::new(MemoryKeyValues::default());
        let of = |tenant, plugin| PluginStore::new(Arc::clone(&store), space(tenant, plugin));
        let mine = of("t1", "a");
        mine.set("k", JsonText::string("v")).await.unwrap();
        assert_eq!(mine.get("k").await.unwrap().unwrap().as_str(), "\"v\"");
        assert_eq!(mine.keys().await.unwrap(), ["k"]);
        for other in [of("t2", "a"), of("t1", "b")] {
            assert!(other.get("k").await.unwrap().is_none() && other.keys().await.unwrap().is_empty());
        }
        mine.remove("k").await.unwrap();
        assert!(mine.get("k").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn room_is_bounded_and_given_back() {
        let store = MemoryKeyValues::default();
        let space = space("", "a");
        let set = async |key: &str, value: Option<JsonText>| store.set(&space, key, value).await;
        assert!(set("", Some(text(10))).await.is_err() && set(&"k".repeat(257), Some(text(10))).await.is_err());
        assert!(set("k", Some(text(MAX_VALUE + 1))).await.is_err());
        for n in 0..15 {
            set(&format!("k{n:02}"), Some(text(MAX_VALUE))).await.unwrap();
        }
        let refused = set("k15", Some(text(MAX_VALUE))).await.unwrap_err();
        assert!(refused.to_string().contains("remove something first"), "{refused}");
        set("k00", Some(text(10))).await.unwrap();
        set("k15", Some(text(MAX_VALUE))).await.unwrap();
        for n in 0..16 {
            set(&format!("k{n:02}"), None).await.unwrap();
        }
        let left = store.0.lock().unwrap();
        assert_eq!((left.bytes, left.by_name.len()), (0, 0));
    }
}

//! Context: what plugins know about a turn before it begins (seed 003, `context`).

mod gather;
mod provider;
mod providers;
mod store;

pub(crate) use gather::gather;
pub use gather::{ContextFact, GatheredContext};
pub use provider::{ContextProvider, ContextQuery, ContextRequest};
pub(crate) use providers::ContextProviders;
pub use store::{KeyValueStore, MemoryKeyValues, PluginStore, StoreSpace};

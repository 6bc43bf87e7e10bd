//! Ids of calls, batches, turns and sessions. Cloning shares the text.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Id of a call, as the vendor gave it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallId(Arc<str>);

/// Id of a batch.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BatchId(Arc<str>);

/// Id of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnId(pub Arc<str>);

/// A session of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    /// The tenant; empty where there is only one.
    pub tenant: Arc<str>,
    /// The session, unique within its tenant.
    pub session: Arc<str>,
}

// === impl CallId ===

impl CallId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for CallId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

// === impl BatchId ===

impl BatchId {
    /// A new id, sortable by time.
    pub fn fresh() -> Self {
        Self(format!("batch_{}", Uuid::now_v7().simple()).into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for BatchId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for BatchId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

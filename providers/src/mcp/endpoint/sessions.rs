//! Sessions: the clients of the older revisions, bounded, ended when they are idle.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use toolyard::SessionKey;
use uuid::Uuid;

use super::meta::ClientCapabilities;
use super::session::{Offered, Session};

/// Every session that is open.
#[derive(Debug)]
pub(super) struct Sessions {
    open: RwLock<HashMap<Arc<str>, Arc<Session>>>,
    max: usize,
    idle: Duration,
}

/// No more sessions are taken.
#[derive(Debug)]
pub(super) struct SessionsFull;

// === impl Sessions ===

impl Sessions {
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        Self { open: RwLock::default(), max, idle }
    }

    /// Opens a session for a tenant. Idle ones make room where there is none.
    pub(super) fn open(
        &self,
        tenant: &Arc<str>,
        capabilities: ClientCapabilities,
        offered: Offered,
    ) -> Result<Arc<Session>, SessionsFull> {
        let id: Arc<str> = Uuid::new_v4().to_string().into();
        let key = SessionKey { tenant: Arc::clone(tenant), session: Arc::clone(&id) };
        let session = Arc::new(Session::new(key, capabilities, offered));
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= self.max {
            drop(take_idle(&mut open, self.idle));
        }
        if open.len() >= self.max {
            return Err(SessionsFull);
        }
        open.insert(id, Arc::clone(&session));
        Ok(session)
    }

    /// The session with this id, if it is this tenant's.
    pub(super) fn find(&self, id: &str, tenant: &str) -> Option<Arc<Session>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(id).filter(|session| &*session.key.tenant == tenant).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(super) fn remove(&self, session: &Session) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&session.key.session);
        session.end();
    }

    /// Takes those out of which nothing was heard for too long.
    pub(super) fn take_idle(&self) -> Vec<Arc<Session>> {
        take_idle(&mut self.open.write().unwrap_or_else(PoisonError::into_inner), self.idle)
    }
}

fn take_idle(open: &mut HashMap<Arc<str>, Arc<Session>>, limit: Duration) -> Vec<Arc<Session>> {
    let idle: Vec<Arc<Session>> =
        open.extract_if(|_, session| session.is_idle(limit)).map(|(_, session)| session).collect();
    idle.iter().for_each(|session| session.end());
    idle
}

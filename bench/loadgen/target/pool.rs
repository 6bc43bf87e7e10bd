//! The pool: connections to one address, no more than the scenario allows.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::wire::{Address, Answer, Connection};
use super::{Loss, TargetError};
use crate::scenario::Scenario;

/// Connections that are kept.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) address: Address,
    idle: Mutex<Vec<Connection>>,
    free: Semaphore,
    timeout: Duration,
}

// === impl Pool ===

impl Pool {
    /// A pool for a path below the scenario's address. The secret header is read from the environment.
    pub(super) fn new(scenario: &Scenario, path: &str) -> Result<Self, TargetError> {
        let target = &scenario.target;
        let value = target.header_env.as_ref().map(|name| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| TargetError::Environment(format!("the variable {name} is not set")))?;
            if value.chars().any(char::is_control) {
                return Err(TargetError::Environment(format!("the variable {name} does not fit into a header")));
            }
            Ok(value)
        });
        let value = value.transpose()?;
        let header = value.as_ref().map(|value| (target.header.as_str(), value.as_str()));
        Ok(Self {
            address: Address::new(target.url.as_deref().unwrap_or_default(), path, header),
            idle: Mutex::new(Vec::new()),
            free: Semaphore::new(scenario.connections()),
            timeout: target.timeout(scenario.load.deadline()),
        })
    }

    /// The address without what is secret.
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address.authority, self.address.path)
    }

    /// Sends a request on a free connection, waits for one where there is none, and hands the answer to `read`. A request
    /// is sent once: what became of it is not known when its connection breaks.
    pub(super) async fn exchange<T>(
        &self,
        method: &str,
        headers: &str,
        body: &str,
        read: impl FnOnce(Answer<'_>) -> Result<T, Loss>,
    ) -> Result<T, Loss> {
        self.exchange_at(&self.address, method, headers, body, read).await
    }

    /// The same at another path of the same server.
    pub(super) async fn exchange_at<T>(
        &self,
        address: &Address,
        method: &str,
        headers: &str,
        body: &str,
        read: impl FnOnce(Answer<'_>) -> Result<T, Loss>,
    ) -> Result<T, Loss> {
        let _permit = self.free.acquire().await.map_err(|_closed| Loss::Closed)?;
        let in_time = tokio::time::timeout(self.timeout, async {
            let kept = self.idle().pop();
            let mut connection = match kept {
                Some(connection) => connection,
                None => Connection::open(&self.address).await.map_err(|_error| Loss::Connect)?,
            };
            let read = read(connection.exchange(method, address, headers, body).await?);
            if connection.is_reusable() {
                self.idle().push(connection);
            }
            read
        });
        in_time.await.unwrap_or(Err(Loss::TimedOut))
    }

    /// Never held over an await.
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Starting and ending incarnations of a provider, outside any actor's handler.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use tokio::time::timeout;

use crate::limits::Limits;
use crate::provider::{ProviderConnector, ProviderSettings, ToolProvider};
use crate::registry::{Life, Listing, Permits, PreparedTool, ProviderHandle, prepare};

/// What does not change while a provider is registered.
pub(super) struct Blueprint {
    pub(super) name: Arc<str>,
    pub(super) connector: Arc<dyn ProviderConnector>,
    pub(super) settings: ProviderSettings,
    pub(super) limits: Limits,
}

/// A fresh incarnation and its tools.
pub(super) type Started = (Arc<ProviderHandle>, Listing);

/// Connects after `delay` and lists the tools. Dropping the future gives up.
pub(super) async fn start(blueprint: &Blueprint, delay: Duration) -> Result<Started, String> {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let limit = blueprint.settings.start_timeout;
    guarded(limit, async {
        let provider = blueprint.connector.connect().await.map_err(|failure| failure.to_string())?;
        let permits = blueprint.settings.max_in_flight.map(|n| Permits::new(n, blueprint.settings.max_queued));
        let handle = Arc::new(ProviderHandle::new(Arc::clone(&blueprint.name), provider, permits));
        match handle.invoker.list_tools().await {
            Ok(specs) => {
                let listing = prepare(specs, &handle, &blueprint.settings, &blueprint.limits, &[]);
                Ok((handle, listing))
            }
            Err(failure) => {
                close(&*handle.invoker, blueprint.settings.close_timeout).await;
                Err(format!("it could not list its tools: {failure}"))
            }
        }
    })
    .await
}

/// Lists the tools of an incarnation that is up.
pub(super) async fn list_again(
    blueprint: &Blueprint,
    handle: &Arc<ProviderHandle>,
    before: &[Arc<PreparedTool>],
) -> Result<Listing, String> {
    guarded(blueprint.settings.start_timeout, async {
        let specs = handle.invoker.list_tools().await.map_err(|failure| failure.to_string())?;
        Ok(prepare(specs, handle, &blueprint.settings, &blueprint.limits, before))
    })
    .await
}

/// Takes an incarnation out of service in good order: calls in flight may finish within `drain`, then they are ended,
/// then the provider is closed.
pub(super) async fn retire(blueprint: Arc<Blueprint>, handle: Arc<ProviderHandle>, drain: Duration, last: Life) {
    handle.end(Life::Draining, "it was replaced or removed");
    drop(timeout(drain, handle.idle()).await);
    handle.end(last, "it was replaced or removed");
    // A call that was counted in before the end is told by the token and leaves soon.
    drop(timeout(blueprint.settings.close_timeout, handle.idle()).await);
    close(&*handle.invoker, blueprint.settings.close_timeout).await;
}

/// Gives back what an incarnation holds. One that hangs or panics is left behind.
pub(super) async fn close(provider: &dyn ToolProvider, limit: Duration) {
    if let Err(reason) = guarded(limit, provider.close().map(Ok)).await {
        tracing::warn!(provider = provider.name(), reason, "provider did not close");
    }
}

async fn guarded<T>(limit: Duration, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    match timeout(limit, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(done)) => done,
        Ok(Err(_panic)) => Err("it panicked".to_owned()),
        Err(_elapsed) => Err(format!("it did not answer within {} ms", limit.as_millis())),
    }
}

//! Starting and ending incarnations of a provider, outside any actor's handler.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::discovery::{MAX_GUIDE_BYTES, ProviderGuide};
use crate::isolate::{self, Isolated};
use crate::limits::Limits;
use crate::metrics::ToolLabels;
use crate::provider::{ProviderConnector, ProviderKind, ProviderSettings};
use crate::registry::{BreakerState, Life, Listing, Permits, PreparedTool, ProviderHandle, ToolWarning, prepare};

/// A batch that read the table just before a change is about to call what the table said then. It must not find that
/// closed, so whatever drains stays open for this long at least, unless it is given less.
const LINGER: Duration = Duration::from_millis(50);

/// What does not change while a provider is registered.
pub(super) struct Blueprint {
    pub(super) name: Arc<str>,
    pub(super) kind: ProviderKind,
    pub(super) connector: Isolated<Arc<dyn ProviderConnector>>,
    pub(super) settings: ProviderSettings,
    pub(super) breaker: Option<Arc<BreakerState>>,
    pub(super) limits: Limits,
    pub(super) labels: Arc<ToolLabels>,
}

/// A fresh incarnation and its tools.
pub(super) type Started = (Arc<ProviderHandle>, Listing);

/// Why there is no incarnation.
pub(super) struct StartFailure {
    pub(super) reason: String,
    /// Whether it may go better when it is tried again.
    pub(super) mends_itself: bool,
}

/// Connects after `delay` and lists the tools. Dropping the future gives up.
pub(super) async fn start(blueprint: &Blueprint, delay: Duration) -> Result<Started, StartFailure> {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let began = Instant::now();
    let mut mends_itself = true;
    let connected = guarded(began, blueprint.settings.start_timeout, async {
        let provider = blueprint.connector.connect().await.map_err(|failure| {
            mends_itself = blueprint.connector.mends_itself(&failure);
            failure.to_string()
        })?;
        let permits = blueprint.settings.max_in_flight.map(|n| Permits::new(n, blueprint.settings.max_queued));
        let breaker = blueprint.breaker.clone();
        Ok(ProviderHandle::new(Arc::clone(&blueprint.name), provider, permits, breaker))
    })
    .await;
    let handle = connected.map_err(|reason| StartFailure { reason, mends_itself })?;
    match list(blueprint, &handle, &[], began).await {
        Ok(listing) => Ok((handle, listing)),
        Err(reason) => {
            close(&handle, blueprint.settings.close_timeout).await;
            let reason = format!("it could not list its tools: {reason}");
            Err(StartFailure { reason, mends_itself: true })
        }
    }
}

/// Lists the tools of an incarnation that is up.
pub(super) async fn list_again(
    blueprint: &Blueprint,
    handle: &Arc<ProviderHandle>,
    before: &[Arc<PreparedTool>],
) -> Result<Listing, String> {
    list(blueprint, handle, before, Instant::now()).await
}

async fn list(
    blueprint: &Blueprint,
    handle: &Arc<ProviderHandle>,
    before: &[Arc<PreparedTool>],
    began: Instant,
) -> Result<Listing, String> {
    guarded(began, blueprint.settings.start_timeout, async {
        let specs = handle.invoker.list_tools().await.map_err(|failure| failure.to_string())?;
        let mut listing = prepare(specs, handle, &blueprint.settings, &blueprint.limits, &blueprint.labels, before);
        let remarks = handle.invoker.remarks();
        listing.rejected.splice(0..0, remarks.rejected);
        listing.warnings.splice(0..0, remarks.warnings);
        listing.guide = handle.invoker.guide().and_then(|text| {
            let guide = ProviderGuide::new(&text, handle, blueprint.settings.guide)?;
            if guide.is_cut() {
                let message = format!("its guide is longer than {MAX_GUIDE_BYTES} bytes; the rest is left out");
                listing.warnings.push(ToolWarning { name: handle.name.to_string(), message });
            }
            Some(guide)
        });
        listing.shorten();
        Ok(listing)
    })
    .await
}

/// Takes an incarnation out of service in good order: calls in flight may finish within `drain` unless the engine shuts
/// down meanwhile, then they are ended, then the provider is closed.
pub(super) async fn retire(
    blueprint: Arc<Blueprint>,
    handle: Arc<ProviderHandle>,
    drain: Duration,
    last: Life,
    shutdown: CancellationToken,
) {
    handle.end(Life::Draining, "it was replaced or removed");
    let drained = shutdown.run_until_cancelled(timeout(drain, async {
        tokio::time::sleep(LINGER).await;
        handle.idle().await;
    }));
    let drained = drained.await;
    let last = if drained.is_some() { last } else { Life::Shutdown };
    handle.end(last, "it was replaced or removed");
    // A call that was counted in before the end is told by the token and leaves soon.
    drop(timeout(blueprint.settings.close_timeout, handle.idle()).await);
    close(&handle, blueprint.settings.close_timeout).await;
}

/// Gives back what an incarnation holds. One that hangs or panics is left behind.
pub(super) async fn close(handle: &ProviderHandle, limit: Duration) {
    let closed = guarded(Instant::now(), limit, async {
        handle.invoker.close().await;
        Ok(())
    });
    if let Err(reason) = closed.await {
        tracing::warn!(provider = %handle.name, reason, "provider did not close");
    }
}

/// Runs what a provider does, for `limit` from `began`. A panic of its future, or of that future's drop, is a failure.
async fn guarded<T>(
    began: Instant,
    limit: Duration,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
    let ended = timeout_at(began + limit, &mut work).await;
    isolate::catch(move || drop(work)).ok();
    match ended {
        Ok(Ok(done)) => done,
        Ok(Err(_panic)) => Err("it panicked".to_owned()),
        Err(_elapsed) => Err(format!("it did not answer within {} ms", limit.as_millis())),
    }
}

//! Engine: what all batches share, and what outlives each of them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::approval::Approvals;
use crate::context::ContextProviders;
use crate::dispatch::BatchesInFlight;
use crate::limits::Limits;
use crate::metrics::{EngineMetrics, ToolLabels};
use crate::middleware::Middlewares;
use crate::policy::Policy;
use crate::provider::HostPort;
use crate::reads::CachedReads;
use crate::registry::RoutingTable;
use crate::result::KeptResults;
use crate::session::{Sessions, Stores};
use crate::shards::Visitors;
use crate::usage::Usage;

/// The data plane: published by the actors, read by batches.
pub(crate) struct Engine {
    pub(crate) table: ArcSwap<RoutingTable>,
    /// The generation of the table, for whoever waits for a change.
    pub(crate) published: watch::Sender<u64>,
    pub(crate) policy: ArcSwap<Policy>,
    pub(crate) sessions: Sessions,
    pub(crate) contexts: ContextProviders,
    pub(crate) approvals: Approvals,
    pub(crate) usage: Usage,
    pub(crate) middleware: Middlewares,
    pub(crate) reads: Arc<CachedReads>,
    pub(crate) limits: Limits,
    pub(crate) host: Arc<dyn HostPort>,
    pub(crate) metrics: EngineMetrics,
    pub(crate) labels: Arc<ToolLabels>,
    pub(crate) batches: BatchesInFlight,
    /// Results that were cut, whole.
    pub(crate) kept: KeptResults,
    /// Counts tasks that have to end before the engine has, such as those of providers that drain.
    pub(crate) tracker: TaskTracker,
    /// Counts the batches that have to end before the engine has.
    open: Visitors,
    /// Ends what still drains when the engine closes.
    pub(crate) shutdown: CancellationToken,
    calls_in_flight: AtomicUsize,
    closing: AtomicBool,
    /// Told when it begins to close, for whoever waits for something that a person does.
    pub(crate) closes: CancellationToken,
}

/// Room for calls, given back when dropped.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    engine: &'a Engine,
    calls: usize,
}

// === impl Engine ===

impl Engine {
    pub(crate) fn new(limits: Limits, host: Arc<dyn HostPort>, stores: Stores) -> Self {
        Self {
            table: ArcSwap::default(),
            published: watch::Sender::new(0),
            policy: ArcSwap::default(),
            sessions: Sessions::new(limits.max_sessions, limits.session_ttl, stores.sessions),
            contexts: ContextProviders::default(),
            approvals: Approvals::new(&limits, stores.approvals),
            usage: Usage::new(limits.max_usage_keys),
            middleware: Middlewares::default(),
            reads: Arc::new(CachedReads::new(limits.max_cached_reads, limits.max_cached_read_bytes)),
            host,
            metrics: EngineMetrics::new(),
            labels: Arc::new(ToolLabels::new(limits.max_tool_labels)),
            kept: KeptResults::new(limits.max_kept_result_bytes, limits.kept_result_ttl),
            limits,
            batches: BatchesInFlight::default(),
            tracker: TaskTracker::new(),
            open: Visitors::default(),
            shutdown: CancellationToken::new(),
            calls_in_flight: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            closes: CancellationToken::new(),
        }
    }

    /// Hands what calls have counted over to the recorder, and drops results whose time is over.
    pub(crate) fn publish_metrics(&self) {
        self.kept.purge();
        self.sessions.purge(Instant::now());
        self.usage.purge(Instant::now());
        self.reads.purge(Instant::now());
        self.metrics.publish();
        self.table.load().routes.iter().for_each(|route| route.tool.metrics.publish());
    }

    /// Room for up to `wanted` calls, fewer when the engine is nearly full.
    pub(crate) fn reserve(&self, wanted: usize) -> Reservation<'_> {
        let before = self.calls_in_flight.fetch_add(wanted, Ordering::Relaxed);
        let calls = wanted.min(self.limits.max_in_flight.saturating_sub(before));
        if calls < wanted {
            self.calls_in_flight.fetch_sub(wanted - calls, Ordering::Relaxed);
        }
        Reservation { engine: self, calls }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// From now on no call is admitted.
    pub(crate) fn begin_closing(&self) {
        self.closing.store(true, Ordering::SeqCst);
        self.tracker.close();
        self.closes.cancel();
    }
}

/// A batch that has to end before the engine has.
#[derive(Debug)]
pub(crate) struct OpenBatch<'a>(&'a Engine);

impl Engine {
    /// Counts a batch in until this is dropped.
    pub(crate) fn open_batch(&self) -> OpenBatch<'_> {
        self.open.enter();
        OpenBatch(self)
    }

    /// Waits until no task and no batch is left. Call it when it closes.
    pub(crate) async fn idle(&self) {
        self.tracker.wait().await;
        self.open.idle().await;
    }
}

impl Drop for OpenBatch<'_> {
    fn drop(&mut self) {
        self.0.open.leave(|| self.0.is_closing());
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("limits", &self.limits).finish_non_exhaustive()
    }
}

// === impl Reservation ===

impl Reservation<'_> {
    pub(crate) fn calls(&self) -> usize {
        self.calls
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.engine.calls_in_flight.fetch_sub(self.calls, Ordering::Relaxed);
    }
}

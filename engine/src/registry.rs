//! ToolRegistry: the public handle of an engine. Registers providers, lists tools, runs batches.

mod acting;
mod approvals;
mod breaker;
mod conduct;
mod context;
mod discovery;
mod error;
mod findings;
mod handle;
mod nearest;
mod permits;
mod prepared;
mod query;
mod status;
mod table;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::actor::RegistryMailbox;
use crate::approval;
use crate::call::{BatchId, SessionKey, ToolBatch, ToolCall, ToolExecutionContext};
use crate::dialect::{DefinitionForm, Definitions, StrictMode};
use crate::dispatch::{self, BatchControl, BatchHandle, BatchesInFlight, CheckedCall};
use crate::engine::Engine;
use crate::gate;
use crate::limits::Limits;
use crate::metrics;
use crate::policy::Policy;
use crate::provider::{HostPort, NoHost, ProviderConnector, ProviderSettings, Standing, ToolProvider};
use crate::result::{BatchOutcome, CallError, CallResult, KeptResult};
use crate::session::{self, SessionControl, SessionStore, Stores};
use crate::tool::ToolSpec;

pub use acting::{CachedRead, Invoke};
pub(crate) use breaker::{BreakerState, Probe};
pub use error::RegistryError;
pub(crate) use handle::{Life, ProviderHandle};
pub(crate) use permits::{Permits, QueueFull};
pub(crate) use prepared::{Listing, PreparedTool, prepare};
pub use prepared::{RejectedTool, ToolWarning};
pub use query::ToolQuery;
pub use status::{ProviderState, ProviderStatus};
pub(crate) use table::{Labels, Route, RoutingTable, Starting};

/// The public handle of an engine (seed 001, section 3.6). Cloning shares the engine.
///
/// Needs a tokio runtime. Dropping the last clone stops its actors; [`ToolRegistry::close`] does so in good order.
#[derive(Clone, Debug)]
pub struct ToolRegistry {
    engine: Arc<Engine>,
    actor: RegistryMailbox,
}

/// A tool as a model may call it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ListedTool {
    /// The name under which a model calls it.
    pub model_name: Arc<str>,
    /// The name in its provider's own characters, which MCP clients call it by; the model name where another tool has it.
    #[serde(skip)]
    pub given_name: Arc<str>,
    /// Its declaration.
    #[serde(flatten)]
    pub spec: ToolSpec,
}

/// A tool that a model may not see in some context, and why.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct UnavailableTool {
    /// The tool.
    #[serde(flatten)]
    pub tool: ListedTool,
    /// What a call of it would be refused with.
    pub reason: CallError,
}

// === impl ToolRegistry ===

impl ToolRegistry {
    /// Starts an engine with these limits and no bot backend. Must be called in a tokio runtime.
    pub fn new(limits: Limits) -> Self {
        Self::with_host(limits, Arc::new(NoHost))
    }

    /// Starts an engine whose providers can ask this bot backend.
    pub fn with_host(limits: Limits, host: Arc<dyn HostPort>) -> Self {
        Self::with_store(limits, host, None)
    }

    /// Starts an engine whose sessions outlive it in this store.
    pub fn with_store(limits: Limits, host: Arc<dyn HostPort>, store: Option<Arc<dyn SessionStore>>) -> Self {
        Self::with_stores(limits, host, Stores { sessions: store, approvals: None })
    }

    /// Puts another policy in the place of the present one. Batches in flight go on under the one that they began with.
    pub fn set_policy(&self, policy: Policy) {
        self.engine.policy.store(Arc::new(policy.settled()));
    }

    /// The policy.
    pub fn policy(&self) -> Arc<Policy> {
        self.engine.policy.load_full()
    }

    /// The sessions.
    pub fn sessions(&self) -> SessionControl {
        SessionControl::new(Arc::clone(&self.engine))
    }

    /// Registers a provider that is there already, and waits until its tools are listed.
    ///
    /// A provider of the same name is replaced: the new one takes the last place in precedence, the old one serves until
    /// the new one is up, then finishes its calls in flight and is closed.
    ///
    /// # Errors
    /// The registry is closed, or the provider cannot list its tools. It stays registered then and is tried again.
    pub async fn register(
        &self,
        provider: Arc<dyn ToolProvider>,
        settings: ProviderSettings,
    ) -> Result<(), RegistryError> {
        self.actor.register_and_wait(Arc::new(Standing(provider)), settings).await
    }

    /// Registers a provider that has to be started, and does not wait for it: see [`ToolRegistry::wait_started`].
    /// Replaces one of the same name like [`ToolRegistry::register`].
    ///
    /// # Errors
    /// The registry is closed.
    pub async fn launch(
        &self,
        connector: Arc<dyn ProviderConnector>,
        mut settings: ProviderSettings,
    ) -> Result<(), RegistryError> {
        settings.breaker.get_or_insert_default();
        self.actor.register(connector, settings).await
    }

    /// Waits until no provider is in its first start any more, or until `timeout` has passed.
    pub async fn wait_started(&self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        let mut changes = self.actor.changes();
        while self.providers().iter().any(|provider| provider.state == ProviderState::Starting) {
            if tokio::time::timeout_at(deadline, changes.changed()).await.map_or(true, |change| change.is_err()) {
                return;
            }
        }
    }

    /// Takes a provider out: its tools are gone at once, its calls in flight finish within its `drain` time, then it is
    /// closed. Returns when it is.
    ///
    /// # Errors
    /// No provider has this name, or the registry is closed.
    pub async fn unregister(&self, name: &str) -> Result<(), RegistryError> {
        self.actor.unregister(name).await
    }

    /// Makes a fresh incarnation of a provider and swaps it in when it is up; the old one finishes its calls. On failure
    /// the old one stays. Its breaker closes at once.
    ///
    /// A start that is under way already may have read what is out of date by now: it goes on, and one more follows, for
    /// all that asked meanwhile. Dropping the future leaves the reload going.
    ///
    /// # Errors
    /// No provider has this name, the fresh incarnation did not start, or the registry is closed.
    pub async fn reload(&self, name: &str) -> Result<(), RegistryError> {
        self.actor.reload(name).await
    }

    /// Every provider, in order of precedence, with its state.
    pub fn providers(&self) -> Vec<ProviderStatus> {
        self.actor.statuses()
    }

    /// The tools that a model may see, sorted by model name.
    pub fn list_tools<'q>(&self, query: impl Into<ToolQuery<'q>>) -> Vec<ListedTool> {
        let (query, policy) = (query.into(), self.engine.policy.load());
        let caller = query.caller(&self.engine, &policy);
        let table = self.engine.table.load();
        let routes = table.routes.iter().enumerate();
        routes
            .filter(|(_, route)| gate::may_list(&route.tool, &caller).is_ok())
            .map(|(index, route)| listed(&table, index, route))
            .collect()
    }

    /// Changes whenever the tools do: something was registered, listed anew, or taken out. Marks the present state as seen.
    pub fn tools_changes(&self) -> watch::Receiver<u64> {
        self.engine.published.subscribe()
    }

    /// The tools that are left out of [`ToolRegistry::list_tools`], with the reason for each.
    pub fn unavailable_tools<'q>(&self, query: impl Into<ToolQuery<'q>>) -> Vec<UnavailableTool> {
        let (query, policy) = (query.into(), self.engine.policy.load());
        let caller = query.caller(&self.engine, &policy);
        let table = self.engine.table.load();
        let refused = table.routes.iter().enumerate().filter_map(|(index, route)| {
            let refusal = gate::may_list(&route.tool, &caller).err()?;
            Some(UnavailableTool { tool: listed(&table, index, route), reason: *refusal.error })
        });
        refused.collect()
    }

    /// The declaration of the tool with this model name.
    pub fn get_tool_spec(&self, model_name: &str) -> Option<ToolSpec> {
        let table = self.engine.table.load();
        table.find(model_name).map(|route| table.routes[route].tool.spec.clone())
    }

    /// Whether a model name leads to a tool.
    pub fn has_tool(&self, model_name: &str) -> bool {
        self.engine.table.load().find(model_name).is_some()
    }

    /// The definitions of the tools that a model may see, in a vendor's form, sorted by model name.
    pub fn get_llm_definitions<'q>(&self, query: impl Into<ToolQuery<'q>>, form: impl Into<DefinitionForm>) -> Value {
        self.define(query, form, None).document
    }

    /// The same definitions with what each of them leaves out, and its size.
    pub fn define<'q>(
        &self,
        query: impl Into<ToolQuery<'q>>,
        form: impl Into<DefinitionForm>,
        strict: Option<StrictMode>,
    ) -> Definitions {
        form.into().define(&self.list_tools(query), strict)
    }

    /// Takes every call of a batch through the gates, as [`ToolRegistry::dispatch`] would, and runs none.
    pub fn check(&self, batch: &ToolBatch) -> Vec<CheckedCall> {
        dispatch::check(&self.engine, batch)
    }

    /// Runs one call, as a batch of one.
    pub async fn invoke(&self, call: ToolCall, context: Arc<ToolExecutionContext>) -> Option<CallResult> {
        self.dispatch(ToolBatch::new(vec![call]).with_context(context)).await.results.pop()
    }

    /// Runs a batch in the caller's own task: the fast way for embedders. Exactly one result per call, in call order.
    ///
    /// Dropping the future cancels the batch. A batch with a session can also be cancelled through
    /// [`ToolRegistry::cancel_session`].
    pub async fn dispatch(&self, batch: ToolBatch) -> BatchOutcome {
        let control = Arc::new(BatchControl::default());
        let _registered = batch
            .session
            .clone()
            .and_then(|session| BatchesInFlight::register(&self.engine, batch.id.clone(), Some(session), &control));
        dispatch::dispatch(&self.engine, batch, control, None).await
    }

    /// Runs a batch in a task that the registry owns: it outlives its caller, can be found by its id, and is drained
    /// when the registry closes.
    ///
    /// # Errors
    /// A batch with this id is in flight, too many batches are, or the registry is closed.
    pub async fn start(&self, batch: ToolBatch) -> Result<BatchHandle, RegistryError> {
        self.actor.start(&self.engine, batch).await
    }

    /// Cancels a batch in flight. Says whether there was one with this id.
    pub fn cancel_batch(&self, id: &BatchId) -> bool {
        self.engine.batches.cancel(id)
    }

    /// Cancels every batch of a session. Says how many were in flight.
    pub fn cancel_session(&self, session: &SessionKey) -> usize {
        self.engine.batches.cancel_session(session)
    }

    /// The whole of a result that was cut, by the `reference` of its [`CallResult`]. Gone after
    /// [`Limits::kept_result_ttl`], or earlier when newer ones need the room. A reference is hard to guess, but no secret:
    /// whoever hands results out checks whose they are.
    pub fn kept_result(&self, reference: &str) -> Option<Arc<KeptResult>> {
        self.engine.kept.get(reference)
    }

    /// Hands what was counted over to the `metrics` recorder and brings the gauges up to date. The registry does so every
    /// few seconds by itself; call it before the metrics are read.
    pub fn publish_metrics(&self) {
        self.engine.publish_metrics();
        for status in self.providers() {
            let is = |state: ProviderState| f64::from(u8::from(status.state == state));
            metrics::up_gauge(&status.name).set(is(ProviderState::Up));
            metrics::breaker_gauge(&status.name).set(is(ProviderState::BreakerOpen));
            metrics::in_flight_gauge(&status.name).set(status.in_flight as f64);
        }
        metrics::sessions_gauge().set(self.engine.sessions.len() as f64);
        metrics::publish_approvals(self.engine.approvals.waiting());
        metrics::mailbox_gauge("registry").set(self.actor.depth() as f64);
    }

    /// Whether it is closing, or closed.
    pub fn is_closing(&self) -> bool {
        self.engine.is_closing()
    }

    /// Closes the engine: no call is admitted any more, batches in flight may finish within `grace` and are cancelled
    /// then, every provider is closed, and every task of the engine has ended, unless one hangs.
    pub async fn close(&self, grace: Duration) {
        self.engine.begin_closing();
        self.engine.approvals.withdraw_waiting();
        drop(tokio::time::timeout(grace, self.engine.idle()).await);
        self.engine.batches.cancel_all();
        self.engine.shutdown.cancel();
        self.actor.close().await;
        // A batch that its caller holds and does not poll cannot end.
        drop(tokio::time::timeout(self.engine.limits.control_timeout, self.engine.idle()).await);
        drop(tokio::time::timeout(self.engine.limits.control_timeout, session::flush(&self.engine)).await);
        drop(tokio::time::timeout(self.engine.limits.control_timeout, approval::flush(&self.engine)).await);
    }
}

pub(crate) fn listed(table: &RoutingTable, index: usize, route: &Route) -> ListedTool {
    ListedTool {
        model_name: Arc::clone(&route.model_name),
        given_name: match table.find(&route.tool.wanted_name) {
            Some(owner) if owner == index => Arc::clone(&route.tool.wanted_name),
            _ => Arc::clone(&route.model_name),
        },
        spec: route.tool.spec.clone(),
    }
}

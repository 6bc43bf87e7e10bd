//! The engine in this process, with every gate and metric on.

use std::sync::Arc;
use std::time::Duration;

use toolyard::{
    BatchOutcome, CallId, FunctionProvider, Limits, ProviderSettings, RawArguments, SessionKey, ToolBatch, ToolCall,
    ToolExecutionContext, ToolRegistry,
};
use toolyard_bench::install_recorder;

use super::script::function_tool;
use super::{CallEnd, Callee, Loss, TargetError, Work, call_id, callees};
use crate::scenario::{EmbeddedMode, Scenario, Tool};

/// The engine in this process.
#[derive(Debug)]
pub(crate) struct Embedded {
    registry: ToolRegistry,
    mode: EmbeddedMode,
    callees: Vec<Callee>,
    ids: Vec<CallId>,
    /// Contexts by session; empty where batches name none.
    contexts: Vec<Arc<ToolExecutionContext>>,
    keys: Vec<SessionKey>,
    unnamed: Arc<ToolExecutionContext>,
    deadline: Duration,
}

// === impl Embedded ===

impl Embedded {
    pub(super) async fn start(scenario: &Scenario) -> Result<Self, TargetError> {
        install_recorder();
        let mut limits = Limits::default();
        limits.max_batch_calls = limits.max_batch_calls.max(scenario.max_calls());
        limits.max_in_flight = 16 << 20;
        limits.max_batches = 1 << 20;
        let registry = ToolRegistry::new(limits);
        for (name, tools) in by_provider(&scenario.tools) {
            let tools = tools.into_iter().map(|tool| function_tool(tool, scenario.seed));
            let provider = tools.fold(FunctionProvider::new(name), FunctionProvider::with_tool);
            let registered = registry.register(Arc::new(provider), ProviderSettings::default()).await;
            registered.map_err(|error| TargetError::Engine(error.to_string()))?;
        }
        let named = if scenario.load.name_sessions { scenario.max_sessions() } else { 0 };
        let keys = (0..named).map(|n| SessionKey { tenant: "".into(), session: session_name(n).into() });
        let context = |n| ToolExecutionContext { session_id: session_name(n), ..ToolExecutionContext::default() };
        Ok(Self {
            registry,
            mode: scenario.target.mode,
            callees: callees(scenario),
            ids: (0..scenario.max_calls()).map(|index| CallId::from(call_id(index))).collect(),
            contexts: (0..named).map(|n| Arc::new(context(n))).collect(),
            keys: keys.collect(),
            unnamed: Arc::default(),
            deadline: scenario.load.deadline(),
        })
    }

    pub(super) async fn run(&self, session: u32, work: &mut Work) {
        let batch = self.batch(session, &work.hand);
        let outcome = match self.mode {
            EmbeddedMode::Dispatch => Some(self.registry.dispatch(batch).await),
            EmbeddedMode::Start => match self.registry.start(batch).await {
                Ok(handle) => handle.outcome().await,
                Err(_refused) => None,
            },
        };
        match outcome {
            Some(outcome) if self.is_as_promised(&outcome, work.hand.len()) => {
                let end = |result: &toolyard::CallResult| CallEnd { status: Ok(result.status), took: result.duration };
                work.ends.extend(outcome.results.iter().map(end));
            }
            Some(_) => work.lose(Loss::Violation),
            None => work.lose(Loss::Refused),
        }
    }

    pub(super) async fn close(self) {
        self.registry.close(Duration::ZERO).await;
    }

    fn batch(&self, session: u32, hand: &[usize]) -> ToolBatch {
        let calls = hand.iter().zip(&self.ids).map(|(tool, id)| {
            let callee = &self.callees[*tool];
            ToolCall::new(id.clone(), Arc::clone(&callee.name), RawArguments::Text(Arc::clone(&callee.arguments)))
        });
        let context = self.contexts.get(session as usize).unwrap_or(&self.unnamed);
        let mut batch = ToolBatch::new(calls.collect()).with_context(Arc::clone(context)).with_deadline(self.deadline);
        batch.session = self.keys.get(session as usize).cloned();
        batch
    }

    /// One result for each call, in call order.
    fn is_as_promised(&self, outcome: &BatchOutcome, calls: usize) -> bool {
        let results = &outcome.results;
        results.len() == calls && results.iter().zip(&self.ids).all(|(result, id)| result.call_id == *id)
    }
}

/// The name of a session.
pub(super) fn session_name(session: u32) -> String {
    format!("load-{session}")
}

fn by_provider(tools: &[Tool]) -> Vec<(&str, Vec<&Tool>)> {
    let mut providers: Vec<(&str, Vec<&Tool>)> = Vec::new();
    for tool in tools {
        match providers.iter_mut().find(|(name, _)| *name == tool.provider) {
            Some((_, tools)) => tools.push(tool),
            None => providers.push((&tool.provider, vec![tool])),
        }
    }
    providers
}

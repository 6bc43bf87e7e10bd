//! The engine under test: 50 tools in 5 providers, every gate and metric on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolyard::{
    ExecutionClass, FunctionProvider, FunctionTool, Limits, Policy, ProviderSettings, RawArguments, SessionKey,
    ToolBatch, ToolCall, ToolExecutionContext, ToolExecutionResult, ToolRegistry, ToolSpec,
};

use crate::{ARGUMENTS, tool_names, tool_of};

/// Time that a batch has; never reached.
const DEADLINE: Duration = Duration::from_secs(30);

/// The engine with tools of one execution class that do nothing.
#[derive(Clone, Debug)]
pub struct Engine {
    registry: ToolRegistry,
    context: Arc<ToolExecutionContext>,
    session: Option<SessionKey>,
}

// === impl Engine ===

impl Engine {
    /// Starts it. The metrics recorder must be installed before.
    pub async fn start(class: ExecutionClass) -> Self {
        let registry = ToolRegistry::new(Limits::default());
        for (name, tools) in tool_names() {
            let tools = tools.into_iter().map(|tool| no_op(&tool, class));
            let provider = tools.fold(FunctionProvider::new(name), FunctionProvider::with_tool);
            registry.register(Arc::new(provider), ProviderSettings::default()).await.unwrap();
        }
        Self { registry, context: Arc::default(), session: None }
    }

    /// The same engine, whose batches belong to a session and come from this context.
    #[must_use]
    pub fn in_session(&self, session: &str, context: ToolExecutionContext) -> Self {
        let key = SessionKey { tenant: context.tenant.as_str().into(), session: session.into() };
        Self { registry: self.registry.clone(), context: Arc::new(context), session: Some(key) }
    }

    /// Puts a policy in force, for all clones.
    pub fn set_policy(&self, policy: Policy) {
        self.registry.set_policy(policy);
    }

    /// A batch of `calls` calls.
    pub fn batch(&self, calls: usize) -> ToolBatch {
        let call = |index| ToolCall::new(format!("call_{index}"), tool_of(index), RawArguments::text(ARGUMENTS));
        let batch = ToolBatch::new((0..calls).map(call).collect()).with_context(Arc::clone(&self.context));
        let batch = batch.with_deadline(DEADLINE);
        match &self.session {
            Some(session) => batch.with_session(session.clone()),
            None => batch,
        }
    }

    /// Runs a batch in the caller's task.
    pub async fn dispatch(&self, batch: ToolBatch) {
        let outcome = self.registry.dispatch(batch).await;
        assert!(outcome.results.iter().all(toolyard::CallResult::is_success));
    }

    /// Runs a batch in a task of the registry.
    pub async fn start_and_wait(&self, batch: ToolBatch) {
        let outcome = self.registry.start(batch).await.unwrap().outcome().await.unwrap();
        assert!(outcome.results.iter().all(toolyard::CallResult::is_success));
    }
}

fn no_op(name: &str, class: ExecutionClass) -> FunctionTool {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "additionalProperties": false
    });
    FunctionTool::new(ToolSpec::new(name, "Does nothing.").with_parameters(schema), |_invocation, _context| {
        std::future::ready(Ok(ToolExecutionResult::success("done")))
    })
    .with_execution(class)
}

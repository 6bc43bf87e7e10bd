//! The engine under test: 50 tools in 5 providers, every gate and metric on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolyard::{
    ExecutionClass, FunctionProvider, FunctionTool, Limits, Policy, ProviderSettings, RawArguments, ToolBatch,
    ToolCall, ToolExecutionContext, ToolExecutionResult, ToolNames, ToolRegistry, ToolSpec, UsageLimit, UsagePer,
};

use crate::{ARGUMENTS, tool_names, tool_of};

/// Time that a batch has; never reached.
const DEADLINE: Duration = Duration::from_secs(30);

/// The engine with tools of one execution class that do nothing.
#[derive(Clone, Debug)]
pub struct Engine {
    registry: ToolRegistry,
    context: Arc<ToolExecutionContext>,
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
        Self { registry, context: Arc::default() }
    }

    /// The same engine with a rate and a daily quota on every call, neither ever reached.
    #[must_use]
    pub fn with_usage_limits(self) -> Self {
        let per_user = UsagePer { user: true, tool: true, ..UsagePer::default() };
        let limit = UsageLimit::new("all", per_user, ToolNames::all());
        let mut policy = Policy::default();
        policy.usage = vec![limit.with_rate(u32::MAX, Duration::from_secs(60)).with_quota(u32::MAX)];
        self.registry.set_policy(policy);
        self
    }

    /// A batch of `calls` calls.
    pub fn batch(&self, calls: usize) -> ToolBatch {
        let call = |index| ToolCall::new(format!("call_{index}"), tool_of(index), RawArguments::text(ARGUMENTS));
        ToolBatch::new((0..calls).map(call).collect()).with_context(Arc::clone(&self.context)).with_deadline(DEADLINE)
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

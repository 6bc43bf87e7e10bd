//! The engine under test, every gate and metric on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolyard::{
    BatchOutcome, CallResult, FunctionProvider, FunctionTool, Policy, ProviderSettings, RawArguments, SessionKey,
    ToolBatch, ToolCall, ToolExecutionContext, ToolExecutionResult, ToolRegistry, ToolSpec,
};

use crate::work::compute;
use crate::{Setup, Work};

/// Time that a batch has; never reached.
const DEADLINE: Duration = Duration::from_secs(30);

/// The engine with tools that all do the same.
#[derive(Clone, Debug)]
pub struct Engine {
    registry: ToolRegistry,
    setup: Arc<Setup>,
    context: Arc<ToolExecutionContext>,
    sessions: Sessions,
}

/// What sessions batches belong to.
#[derive(Clone, Debug)]
enum Sessions {
    None,
    /// All to this one.
    One(SessionKey),
    /// Each to that of its number.
    Each,
}

// === impl Engine ===

impl Engine {
    /// Starts it. The metrics recorder must be installed before, where there is to be one.
    pub async fn start(setup: Setup) -> Self {
        setup.work.prepare();
        let registry = ToolRegistry::new(setup.limits.clone());
        for provider in 0..setup.providers {
            let tools = setup.tools_of(provider).map(|name| tool(&setup, &name));
            let provider = tools.fold(FunctionProvider::new(format!("p{provider}")), FunctionProvider::with_tool);
            registry.register(Arc::new(provider), ProviderSettings::default()).await.unwrap();
        }
        Self { registry, setup: Arc::new(setup), context: Arc::default(), sessions: Sessions::None }
    }

    /// The same engine, whose batches belong to a session and come from this context.
    #[must_use]
    pub fn in_session(mut self, session: &str, context: ToolExecutionContext) -> Self {
        self.sessions = Sessions::One(SessionKey { tenant: context.tenant.as_str().into(), session: session.into() });
        self.context = Arc::new(context);
        self
    }

    /// The same engine, whose batches belong to the session of their number.
    #[must_use]
    pub fn in_sessions(mut self) -> Self {
        self.sessions = Sessions::Each;
        self
    }

    /// Puts a policy in force, for all clones.
    pub fn set_policy(&self, policy: Policy) {
        self.registry.set_policy(policy);
    }

    /// Its registry.
    pub fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    /// The name of a tool; any number will do.
    pub fn tool_name(&self, number: usize) -> String {
        self.setup.tool(number)
    }

    /// A batch of `calls` calls, the `turn`th of many, of session number `session`.
    pub fn batch(&self, session: usize, turn: usize, calls: usize) -> ToolBatch {
        let calls = (turn * calls..(turn + 1) * calls).enumerate().map(|(index, number)| {
            let arguments = RawArguments::text(self.setup.arguments());
            ToolCall::new(format!("call_{index}"), self.setup.tool(number), arguments)
        });
        let batch = ToolBatch::new(calls.collect()).with_context(Arc::clone(&self.context)).with_deadline(DEADLINE);
        match &self.sessions {
            Sessions::None => batch,
            Sessions::One(key) => batch.with_session(key.clone()),
            Sessions::Each => {
                batch.with_session(SessionKey { tenant: "bench".into(), session: format!("session_{session}").into() })
            }
        }
    }

    /// Runs a batch in the caller's task.
    pub async fn dispatch(&self, batch: ToolBatch) -> BatchOutcome {
        let outcome = self.registry.dispatch(batch).await;
        assert!(outcome.results.iter().all(CallResult::is_success));
        outcome
    }

    /// Runs a batch in a task of the registry.
    pub async fn start_and_wait(&self, batch: ToolBatch) -> BatchOutcome {
        let outcome = self.registry.start(batch).await.unwrap().outcome().await.unwrap();
        assert!(outcome.results.iter().all(CallResult::is_success));
        outcome
    }
}

fn tool(setup: &Setup, name: &str) -> FunctionTool {
    let mut spec = ToolSpec::new(name, "Does what is measured.");
    if setup.schema {
        spec = spec.with_parameters(json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
            "additionalProperties": false
        }));
    }
    handler(spec, setup.work, setup.answer()).with_execution(setup.class)
}

fn handler(spec: ToolSpec, work: Work, answer: String) -> FunctionTool {
    match work {
        Work::Nothing => {
            FunctionTool::new(spec, move |_, _| std::future::ready(Ok(ToolExecutionResult::success(answer.clone()))))
        }
        Work::Yield => FunctionTool::new(spec, move |_, _| {
            let answer = answer.clone();
            async move {
                tokio::task::yield_now().await;
                Ok(ToolExecutionResult::success(answer))
            }
        }),
        Work::Sleep(time) => FunctionTool::new(spec, move |_, _| {
            let answer = answer.clone();
            async move {
                tokio::time::sleep(time).await;
                Ok(ToolExecutionResult::success(answer))
            }
        }),
        Work::Compute(time) => FunctionTool::new(spec, move |_, _| {
            let answer = answer.clone();
            async move {
                compute(time);
                Ok(ToolExecutionResult::success(answer))
            }
        }),
    }
}

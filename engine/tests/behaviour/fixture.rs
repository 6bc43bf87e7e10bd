//! What the tests share: tools that behave as told, probes that count, and short ways to ask and to look.

mod probe;
mod scripted;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolyard::{
    BatchOutcome, CallResult, CallStatus, ErrorCode, ExecutionClass, FunctionProvider, FunctionTool, Limits,
    ProviderSettings, ProviderState, ProviderStatus, RawArguments, ToolBatch, ToolCall, ToolExecutionResult,
    ToolRegistry, ToolSpec,
};

pub(crate) use probe::Probe;
pub(crate) use scripted::{Fault, Script, Start};

/// `Ok` itself is taken by the prelude.
pub(crate) const OK: CallStatus = CallStatus::Ok;

/// The classes whose handlers may wait for tokio's clock while it is paused.
pub(crate) const ASYNC_CLASSES: [ExecutionClass; 3] =
    [ExecutionClass::Io, ExecutionClass::Task, ExecutionClass::Inline];

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

// === registries ===

/// A registry with these tools, of one provider `p`.
pub(crate) async fn registry(tools: impl IntoIterator<Item = FunctionTool>) -> ToolRegistry {
    registry_with(Limits::default(), ProviderSettings::default(), tools).await
}

pub(crate) async fn registry_with(
    limits: Limits,
    settings: ProviderSettings,
    tools: impl IntoIterator<Item = FunctionTool>,
) -> ToolRegistry {
    let registry = ToolRegistry::new(limits);
    registry.register(provider("p", tools), settings).await.unwrap();
    registry
}

pub(crate) fn provider(name: &str, tools: impl IntoIterator<Item = FunctionTool>) -> Arc<FunctionProvider> {
    Arc::new(tools.into_iter().fold(FunctionProvider::new(name), FunctionProvider::with_tool))
}

/// Limits and settings cannot be written as literals outside their crate.
pub(crate) fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

pub(crate) fn settings(change: impl FnOnce(&mut ProviderSettings)) -> ProviderSettings {
    let mut settings = ProviderSettings::default();
    change(&mut settings);
    settings
}

pub(crate) fn status_of(registry: &ToolRegistry, provider: &str) -> ProviderStatus {
    registry.providers().into_iter().find(|status| *status.name == *provider).unwrap()
}

pub(crate) fn state_of(registry: &ToolRegistry, provider: &str) -> ProviderState {
    status_of(registry, provider).state
}

// === tools ===

/// A tool that takes this long and then succeeds with its own name.
pub(crate) fn sleeper(name: &str, time: Duration, probe: &Probe) -> FunctionTool {
    let probe = probe.clone();
    FunctionTool::new(ToolSpec::new(name, ""), move |invocation, context| {
        let visit = probe.enter(&invocation, &context);
        async move {
            tokio::time::sleep(time).await;
            Ok(ToolExecutionResult::success(visit.finish()))
        }
    })
}

/// A tool that never answers.
pub(crate) fn hanging(name: &str, probe: &Probe) -> FunctionTool {
    let probe = probe.clone();
    FunctionTool::new(ToolSpec::new(name, ""), move |invocation, context| {
        let visit = probe.enter(&invocation, &context);
        async move {
            let _visit = visit;
            std::future::pending().await
        }
    })
}

/// A tool that succeeds with this text at once.
pub(crate) fn saying(name: &str, text: &str) -> FunctionTool {
    let text = text.to_owned();
    FunctionTool::from_fn(name, "", move |_| std::future::ready(Ok(text.clone())))
}

/// A tool that fails at once.
pub(crate) fn failing(name: &str) -> FunctionTool {
    FunctionTool::from_fn(name, "", |_| std::future::ready(Err("no luck".into())))
}

/// A tool that gives back these results, made anew for each call.
pub(crate) fn giving(name: &str, make: impl Fn() -> ToolExecutionResult + Send + Sync + 'static) -> FunctionTool {
    FunctionTool::new(ToolSpec::new(name, ""), move |_, _| std::future::ready(Ok(make())))
}

// === calls ===

pub(crate) fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall::new(id, tool, RawArguments::text("{}"))
}

pub(crate) fn call_with(id: &str, tool: &str, arguments: &Value) -> ToolCall {
    ToolCall::new(id, tool, arguments)
}

/// A batch of calls to these tools, with the ids `c1`, `c2` and so on.
pub(crate) fn batch<'a>(tools: impl IntoIterator<Item = &'a str>) -> ToolBatch {
    let calls = tools.into_iter().enumerate();
    ToolBatch::new(calls.map(|(index, tool)| call(&format!("c{}", index + 1), tool)).collect())
}

pub(crate) async fn run<'a>(registry: &ToolRegistry, tools: impl IntoIterator<Item = &'a str>) -> BatchOutcome {
    registry.dispatch(batch(tools)).await
}

/// The result of a single call without arguments.
pub(crate) async fn run_one(registry: &ToolRegistry, tool: &str) -> CallResult {
    registry.invoke(call("c1", tool), Arc::default()).await.unwrap()
}

// === looking ===

pub(crate) fn statuses(outcome: &BatchOutcome) -> Vec<CallStatus> {
    outcome.results.iter().map(|result| result.status).collect()
}

pub(crate) fn code_of(result: &CallResult) -> Option<ErrorCode> {
    result.error.as_ref().map(|error| error.code)
}

pub(crate) fn codes(outcome: &BatchOutcome) -> Vec<Option<ErrorCode>> {
    outcome.results.iter().map(code_of).collect()
}

/// After this time a test says that something hangs, by whichever clock it has. It measures nothing.
pub(crate) const HANG: Duration = Duration::from_secs(180);

/// Waits until `condition` holds.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let hangs = Instant::now() + HANG;
    while !condition() {
        assert!(Instant::now() < hangs, "never came true: {what}");
        tokio::time::sleep(ms(1)).await;
    }
}

/// Waits until no task of the runtime is alive, whoever started it.
pub(crate) async fn no_task_is_left() {
    let metrics = tokio::runtime::Handle::current().metrics();
    until("no task is left", || metrics.num_alive_tasks() == 0).await;
}

/// How long some work takes by tokio's clock.
pub(crate) async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let done = work.await;
    (done, start.elapsed())
}

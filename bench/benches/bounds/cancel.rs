//! Cancelling a batch whose tools yield but never look whether they are cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::Instant;
use toolyard::{
    CallStatus, ExecutionClass, FunctionProvider, FunctionTool, Limits, ProviderSettings, RawArguments, ToolBatch,
    ToolCall, ToolRegistry, ToolSpec,
};

use crate::Rounds;
use crate::race::{Lane, race};
use crate::report::Report;
use crate::scene::Scene;

const CALLS: usize = 64;

/// From the cancel to the outcome with every result, in milliseconds.
pub(crate) fn cancel(report: &mut Report, rounds: Rounds) {
    let scene = Scene::new(2);
    let classes = [ExecutionClass::Io, ExecutionClass::Inline, ExecutionClass::Task];
    let [io, inline, task] = classes.map(|class| Stubborn::start(&scene, class));
    let lanes = [io.lane(&scene), inline.lane(&scene), task.lane(&scene)];
    let samples = race(rounds.of(100), lanes, || {});
    for (class, samples) in ["io", "inline", "task"].into_iter().zip(samples) {
        report.add(
            format!("cancel of 64 calls whose tools yield and ignore it, `{class}`"),
            samples.figure(),
            "ms",
            1.0,
        );
    }
}

/// A tool that never ends.
struct Stubborn {
    registry: ToolRegistry,
    entered: Arc<AtomicUsize>,
}

// === impl Stubborn ===

impl Stubborn {
    fn start(scene: &Scene, class: ExecutionClass) -> Self {
        let entered: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&entered);
        let tool = FunctionTool::new(ToolSpec::new("stubborn", "Never ends."), move |_, _| {
            let count = Arc::clone(&count);
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                loop {
                    tokio::task::yield_now().await;
                }
            }
        });
        let provider = FunctionProvider::new("bench").with_tool(tool.with_execution(class));
        let registry = scene.runtime.block_on(async {
            let registry = ToolRegistry::new(Limits::default());
            registry.register(Arc::new(provider), ProviderSettings::default()).await.unwrap();
            registry
        });
        Self { registry, entered }
    }

    fn lane<'a>(&'a self, scene: &'a Scene) -> Lane<'a> {
        Box::new(|| self.cancelled_after(scene))
    }

    /// Milliseconds until every call has its result.
    fn cancelled_after(&self, scene: &Scene) -> f64 {
        self.entered.store(0, Ordering::Relaxed);
        let (registry, entered) = (self.registry.clone(), Arc::clone(&self.entered));
        let waited = scene.runtime.spawn(async move {
            let call = |n| ToolCall::new(format!("call_{n}"), "stubborn", RawArguments::Absent);
            let handle = registry.start(ToolBatch::new((0..CALLS).map(call).collect())).await.unwrap();
            while entered.load(Ordering::Relaxed) < CALLS {
                tokio::task::yield_now().await;
            }
            let cancelled = Instant::now();
            handle.cancel();
            let outcome = handle.outcome().await.unwrap();
            let waited = cancelled.elapsed();
            assert_eq!(outcome.results.len(), CALLS);
            assert!(outcome.results.iter().all(|result| result.status == CallStatus::Cancelled));
            waited
        });
        scene.runtime.block_on(waited).unwrap().as_secs_f64() * 1e3
    }
}

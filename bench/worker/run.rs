//! Running what the harness asks for, and measuring it.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolyard::{
    BatchOutcome, CallResult, ExecutionClass, RawArguments, RegistryError, SessionKey, ToolBatch, ToolCall,
    ToolRegistry,
};
use toolyard_bench::Meter;

use crate::protocol::{Batches, BurstRequest, RunRequest};
use crate::tools::{self, Found, TOOLS};

/// Different batches.
const VARIANTS: usize = 50;
/// Time that a batch has; never reached.
const DEADLINE: Duration = Duration::from_secs(60);
/// Of a burst, every so-manieth session's results are looked at.
const LOOKED_AT: usize = 97;

/// The registry, and how long its tools sleep.
pub(crate) struct Worker {
    registry: ToolRegistry,
    sleep_ms: Arc<AtomicU64>,
}

/// The calls of each variant, made before anything is timed.
type Variants = Arc<Vec<Vec<ToolCall>>>;

/// Batches that a session did, and the milliseconds that each took, where they are wanted.
type Done = (usize, Vec<f64>);

// === impl Worker ===

impl Worker {
    pub(crate) async fn start(class: ExecutionClass) -> Result<Self, RegistryError> {
        let sleep_ms = Arc::default();
        Ok(Self { registry: tools::registry(class, &sleep_ms).await?, sleep_ms })
    }

    pub(crate) fn publish_metrics(&self) {
        self.registry.publish_metrics();
    }

    /// Sessions that run batches until their time is over, and at least one.
    pub(crate) async fn run(self: Arc<Self>, wanted: RunRequest) -> Result<Value, String> {
        let Batches { n, sessions, sleep_ms } = wanted.batches;
        let variants = self.prepare(wanted.batches);
        for variant in [0, 13] {
            let outcome = self.dispatch(&variants[variant], &key(0)).await;
            are_right(&outcome, n, variant).then_some(()).ok_or("wrong results")?;
        }
        let meter = Meter::start();
        let end = Instant::now() + wanted.budget();
        let session = |number| {
            let (worker, variants) = (Arc::clone(&self), Arc::clone(&variants));
            worker.session(number, variants, end, wanted.max_batches, sleep_ms > 0)
        };
        let (mut batches, mut latencies) = (0, Vec::new());
        if sessions == 1 {
            (batches, latencies) = session(0).await;
        } else {
            let tasks: Vec<_> = (0..sessions).map(|number| tokio::spawn(session(number))).collect();
            for task in tasks {
                let (done, more) = task.await.map_err(|error| error.to_string())?;
                batches += done;
                latencies.extend(more);
            }
        }
        let spent = meter.stop();
        let mut answer = json!({"ok": true, "batches": batches, "calls": batches * n,
            "secs": spent.wall.as_secs_f64(), "cpu_secs": spent.cpu.as_secs_f64()});
        if sleep_ms > 0 {
            answer["lat_ms"] = json!(latencies);
        }
        Ok(answer)
    }

    async fn session(
        self: Arc<Self>,
        number: usize,
        variants: Variants,
        end: Instant,
        max_batches: usize,
        timed: bool,
    ) -> Done {
        let key = key(number);
        let mut latencies = Vec::new();
        for done in 1.. {
            let started = Instant::now();
            black_box(self.dispatch(&variants[(number + done - 1) % VARIANTS], &key).await);
            let now = Instant::now();
            if timed {
                latencies.push((now - started).as_secs_f64() * 1e3);
            }
            if now >= end || done >= max_batches {
                return (done, latencies);
            }
        }
        (0, latencies)
    }

    /// Sessions that run one batch each, all at once.
    pub(crate) async fn burst(self: Arc<Self>, wanted: BurstRequest) -> Result<Value, String> {
        let Batches { n, sessions, .. } = wanted.batches;
        let variants = self.prepare(wanted.batches);
        let meter = Meter::start();
        let tasks: Vec<_> = (0..sessions)
            .map(|number| {
                let (worker, variants) = (Arc::clone(&self), Arc::clone(&variants));
                tokio::spawn(async move {
                    let started = Instant::now();
                    let outcome = worker.dispatch(&variants[number % VARIANTS], &key(number)).await;
                    let took = started.elapsed().as_secs_f64() * 1e3;
                    (took, number % LOOKED_AT != 0 || are_right(&outcome, n, number % VARIANTS))
                })
            })
            .collect();
        let (mut latencies, mut ok) = (Vec::with_capacity(sessions), true);
        for task in tasks {
            let (took, is_right) = task.await.map_err(|error| error.to_string())?;
            latencies.push(took);
            ok &= is_right;
        }
        let spent = meter.stop();
        latencies.sort_by(f64::total_cmp);
        Ok(json!({"ok": ok, "batches": sessions, "calls": sessions * n,
            "secs": spent.wall.as_secs_f64(), "cpu_secs": spent.cpu.as_secs_f64(),
            "lat_p50_ms": quantile(&latencies, 0.5), "lat_p99_ms": quantile(&latencies, 0.99)}))
    }

    fn prepare(&self, batches: Batches) -> Variants {
        self.sleep_ms.store(batches.sleep_ms, Ordering::Relaxed);
        Arc::new((0..VARIANTS).map(|variant| calls(batches.n, variant)).collect())
    }

    async fn dispatch(&self, calls: &[ToolCall], session: &SessionKey) -> BatchOutcome {
        let batch = ToolBatch::new(calls.to_vec()).with_session(session.clone()).with_deadline(DEADLINE);
        self.registry.dispatch(batch).await
    }
}

fn key(session: usize) -> SessionKey {
    SessionKey { tenant: "bench".into(), session: session.to_string().into() }
}

fn tool_of(variant: usize, call: usize) -> String {
    tools::name((17 * variant + 7 * call) % TOOLS)
}

fn calls(n: usize, variant: usize) -> Vec<ToolCall> {
    let call = |i| {
        let arguments = json!({"query": format!("q{variant}-{i}"), "limit": i}).to_string();
        ToolCall::new(format!("call_{i}"), tool_of(variant, i), RawArguments::text(arguments))
    };
    (0..n).map(call).collect()
}

/// Whether every call gave what its tool answers, in call order.
fn are_right(outcome: &BatchOutcome, n: usize, variant: usize) -> bool {
    let found = |result: &CallResult| result.result.structured_content.as_ref()?.to::<Found>().ok();
    let wanted = |i: usize| {
        let limit = i64::try_from(i).unwrap_or_default();
        Found { tool: tool_of(variant, i), query: format!("q{variant}-{i}"), limit }
    };
    outcome.results.len() == n
        && outcome.results.iter().enumerate().all(|(i, result)| result.is_success() && found(result) == Some(wanted(i)))
}

fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let place = (q * sorted.len() as f64) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied()
}

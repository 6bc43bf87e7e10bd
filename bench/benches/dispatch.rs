//! Dispatch of no-op calls beside plain tokio: by batch size, then by number of sessions, one axis at a time.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::runtime::Runtime;
use tokio::time::Instant;
use toolyard::{ExecutionClass, LATENCY_BUCKETS_SECONDS};
use toolyard_bench::{Baseline, Engine};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Calls of a batch, around the base case of 16.
const BATCH_SIZES: [usize; 4] = [1, 8, 16, 64];
/// Sessions that run batches at the same time, around the base case of one.
const SESSIONS: [usize; 3] = [1, 64, 1000];
const BASE_BATCH: usize = 16;
/// Batches that a session runs in one sample.
const ROUNDS: usize = 4;
const WORKERS: usize = 2;

/// Sets the scene for all groups.
struct Scene {
    runtime: Runtime,
    metrics: PrometheusHandle,
    task: Engine,
    inline: Engine,
    limited: Engine,
    baseline: Baseline,
}

fn dispatch(criterion: &mut Criterion) {
    let scene = Scene::new();
    for calls in BATCH_SIZES {
        let mut group = criterion.benchmark_group(format!("batch/{calls}"));
        scene.measure(&mut group, 1, calls);
    }
    for sessions in SESSIONS {
        let mut group = criterion.benchmark_group(format!("sessions/{sessions}"));
        scene.measure(&mut group, sessions, BASE_BATCH);
    }
    scene.measure_limits(&mut criterion.benchmark_group("limits"));
}

// === impl Scene ===

impl Scene {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().unwrap();
        let metrics =
            PrometheusBuilder::new().set_buckets(&LATENCY_BUCKETS_SECONDS).unwrap().install_recorder().unwrap();
        let task = runtime.block_on(Engine::start(ExecutionClass::Task));
        let inline = runtime.block_on(Engine::start(ExecutionClass::Inline));
        let limited = runtime.block_on(Engine::start(ExecutionClass::Inline)).with_usage_limits();
        Self { runtime, metrics, task, inline, limited, baseline: Baseline::new() }
    }

    fn measure(&self, group: &mut BenchmarkGroup<'_, WallTime>, sessions: usize, calls: usize) {
        group.throughput(Throughput::Elements((sessions * ROUNDS * calls) as u64));
        group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3)).sample_size(30);
        let (task, inline, tokio) = (&self.task, &self.inline, &self.baseline);
        self.bench(group, "tokio", sessions, tokio, |b| b.batch(calls), |b, batch| async move { b.run(batch).await });
        self.bench(
            group,
            "tokio-floor",
            sessions,
            tokio,
            |b| b.batch(calls),
            |b, batch| async move {
                b.spawn_and_join(batch).await;
            },
        );
        self.bench(
            group,
            "task",
            sessions,
            task,
            |e| e.batch(calls),
            |e, batch| async move { e.dispatch(batch).await },
        );
        self.bench(
            group,
            "inline",
            sessions,
            inline,
            |e| e.batch(calls),
            |e, batch| async move {
                e.dispatch(batch).await;
            },
        );
        self.bench(
            group,
            "start",
            sessions,
            task,
            |e| e.batch(calls),
            |e, batch| async move {
                e.start_and_wait(batch).await;
            },
        );
    }

    /// The same batch without and with limits on how often: the difference, by call, is what they cost.
    fn measure_limits(&self, group: &mut BenchmarkGroup<'_, WallTime>) {
        group.throughput(Throughput::Elements((ROUNDS * BASE_BATCH) as u64));
        group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3)).sample_size(30);
        for (name, engine) in [("off", &self.inline), ("rate-and-quota", &self.limited)] {
            self.bench(
                group,
                name,
                1,
                engine,
                |e| e.batch(BASE_BATCH),
                |e, batch| async move {
                    e.dispatch(batch).await;
                },
            );
        }
    }

    /// Times `sessions` tasks that run their batches one after the other. Making the batches is not timed.
    fn bench<S, B, Fut>(
        &self,
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        sessions: usize,
        subject: &S,
        make: impl Fn(&S) -> B,
        run: impl Fn(S, B) -> Fut + Copy + Send + 'static,
    ) where
        S: Clone + Send + 'static,
        B: Send + 'static,
        Fut: Future<Output = ()> + Send,
    {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|samples| {
                let mut total = Duration::ZERO;
                for _ in 0..samples {
                    let work: Vec<(S, Vec<B>)> = (0..sessions)
                        .map(|_| (subject.clone(), (0..ROUNDS).map(|_| make(subject)).collect()))
                        .collect();
                    total += self.runtime.block_on(async {
                        let started = Instant::now();
                        let tasks: Vec<_> = work
                            .into_iter()
                            .map(|(subject, batches)| {
                                tokio::spawn(async move {
                                    for batch in batches {
                                        run(subject.clone(), batch).await;
                                    }
                                })
                            })
                            .collect();
                        for task in tasks {
                            task.await.unwrap();
                        }
                        started.elapsed()
                    });
                }
                // What the exporter does every few seconds in the daemon; its buckets would grow for ever without it.
                self.metrics.run_upkeep();
                total
            });
        });
    }
}

criterion_group!(benches, dispatch);
criterion_main!(benches);

//! The path by stage, as far as it can be taken apart from outside, on one thread.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput};
use toolyard::{Dialect, ExecutionClass, MessageOptions};
use toolyard_bench::{BASE_CALLS, Engine, Setup};

/// 16 no-op calls, stage by stage.
pub(crate) fn stages(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let engine = runtime.block_on(Engine::start(Setup::of(ExecutionClass::Io)));
    let registry = engine.registry();
    let batch = engine.batch(0, 0, BASE_CALLS);
    let outcome = runtime.block_on(engine.dispatch(batch.clone()));
    let names: Vec<String> = (0..BASE_CALLS).map(|number| engine.tool_name(number)).collect();

    let mut group = criterion.benchmark_group("stage");
    group.throughput(Throughput::Elements(BASE_CALLS as u64));
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1)).sample_size(30);
    group.bench_function("resolve", |b| {
        b.iter(|| names.iter().filter(|name| registry.has_tool(black_box(name))).count())
    });
    // Resolve, gates, validation, and what a check says of each call.
    group.bench_function("plan", |b| b.iter(|| registry.check(black_box(&batch))));
    group.bench_function("whole", |b| {
        b.iter_batched(|| batch.clone(), |batch| drop(runtime.block_on(engine.dispatch(batch))), BatchSize::SmallInput);
    });
    group.bench_function("outcome as JSON", |b| b.iter(|| serde_json::to_string(black_box(&outcome)).unwrap()));
    let render = || Dialect::OpenAiChat.messages(black_box(&outcome), MessageOptions::default());
    group.bench_function("messages for OpenAI", |b| b.iter(render));
}

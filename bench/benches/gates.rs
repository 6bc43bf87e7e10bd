//! What sessions and policy add to a call: the same batches of no-op calls without a session, in one, and in one under a
//! policy with a rule of each kind or with limits on use. One worker, calls in place, so that nothing but the engine's own work is timed.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use toolyard::{ExecutionClass, Policy};
use toolyard_bench::{Engine, caller, rules, usage};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CALLS: usize = 16;

fn gates(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let plain = runtime.block_on(Engine::start(ExecutionClass::Inline));
    let session = plain.in_session("session", caller());
    let mut group = criterion.benchmark_group("gates");
    group.throughput(Throughput::Elements(CALLS as u64));
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3)).sample_size(50);
    for (name, engine, policy) in [
        ("no-session", &plain, Policy::default()),
        ("session", &session, Policy::default()),
        ("rules", &session, rules()),
        ("rate-and-quota", &session, usage()),
    ] {
        plain.set_policy(policy);
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || engine.batch(CALLS),
                |batch| runtime.block_on(engine.dispatch(batch)),
                BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(benches, gates);
criterion_main!(benches);

//! What sessions and policy add to a call: the same batches of no-op calls without a session, in one, and in one under a
//! policy with a rule of each kind or with limits on use. One worker, calls in place, so that nothing but the engine's own work is timed.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use toolyard::{ExecutionClass, Policy};
use toolyard_bench::{BASE_CALLS, Engine, Setup, caller, rules, usage};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn gates(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let setup = Setup::of(ExecutionClass::Inline);
    let rules = rules(&setup);
    let plain = runtime.block_on(Engine::start(setup));
    let session = plain.clone().in_session("session", caller());
    let mut group = criterion.benchmark_group("gates");
    group.throughput(Throughput::Elements(BASE_CALLS as u64));
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3)).sample_size(50);
    for (name, engine, policy) in [
        ("no-session", &plain, Policy::default()),
        ("session", &session, Policy::default()),
        ("rules", &session, rules),
        ("rate-and-quota", &session, usage()),
    ] {
        plain.set_policy(policy);
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || engine.batch(0, 0, BASE_CALLS),
                |batch| drop(runtime.block_on(engine.dispatch(batch))),
                BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(benches, gates);
criterion_main!(benches);

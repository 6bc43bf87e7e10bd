//! The axes, and the values on each.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use toolyard::ExecutionClass;
use toolyard_bench::{BASE_CALLS, Load, Setup, Work, install_recorder};

use crate::subjects::{Scene, Subjects};

const BATCH_SIZES: [usize; 4] = [1, 8, 16, 64];
const SESSIONS: [usize; 4] = [1, 64, 1_000, 10_000];
const PROVIDERS: [usize; 3] = [1, 5, 50];
const TOOLS: [usize; 2] = [50, 5_000];
const PAYLOADS: [usize; 3] = [0, 1 << 10, 64 << 10];
const HANDLERS: [(&str, Work); 4] = [
    ("no-op", Work::Nothing),
    ("yield", Work::Yield),
    ("sleep 1 ms", Work::Sleep(Duration::from_millis(1))),
    ("20 µs of work", Work::Compute(Duration::from_micros(20))),
];

/// Every axis.
pub(crate) fn axes(criterion: &mut Criterion) {
    install_recorder();
    let scene = Scene::new();
    let base = scene.subjects(&base());
    for calls in BATCH_SIZES {
        measure(criterion, &scene, &base, "batch", calls, Load::new(1, calls));
    }
    let in_sessions = base.in_sessions();
    for sessions in SESSIONS {
        let batches = if sessions < 10_000 { Load::new(sessions, BASE_CALLS).batches } else { 1 };
        let load = Load::new(sessions, BASE_CALLS).with_batches(batches);
        measure(criterion, &scene, &in_sessions, "sessions", sessions, load);
    }
    for (name, work) in HANDLERS {
        let batches = if work == Work::Nothing || work == Work::Yield { 64 } else { 8 };
        let subjects = scene.subjects(&Setup { work, ..self::base() });
        measure(criterion, &scene, &subjects, "handler", name, Load::new(1, BASE_CALLS).with_batches(batches));
    }
    for providers in PROVIDERS {
        let subjects = scene.subjects(&Setup { providers, ..self::base() });
        measure(criterion, &scene, &subjects, "providers", providers, Load::new(1, BASE_CALLS));
    }
    for tools in TOOLS {
        let subjects = scene.subjects(&Setup { tools, ..self::base() });
        measure(criterion, &scene, &subjects, "tools", tools, Load::new(1, BASE_CALLS));
    }
    for payload in PAYLOADS {
        let batches = if payload < 64 << 10 { 64 } else { 4 };
        let subjects = scene.subjects(&Setup { payload, ..self::base() });
        measure(criterion, &scene, &subjects, "payload", payload, Load::new(1, BASE_CALLS).with_batches(batches));
    }
}

/// The subjects choose the class.
fn base() -> Setup {
    Setup::of(ExecutionClass::Task)
}

/// Every subject at one value of one axis.
fn measure(
    criterion: &mut Criterion,
    scene: &Scene,
    subjects: &Subjects,
    axis: &str,
    value: impl std::fmt::Display,
    load: Load,
) {
    let mut group = criterion.benchmark_group(axis);
    group.throughput(Throughput::Elements(load.total() as u64)).sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    for (name, subject) in subjects.all() {
        group.bench_function(BenchmarkId::new(name, &value), |bencher| {
            bencher.iter_custom(|samples| (0..samples).map(|_| subject.time(&scene.runtime, load).wall).sum());
        });
    }
}

//! Tools that compute, and tools that wait.

use std::time::Duration;

use toolyard::ExecutionClass;
use toolyard_bench::{BASE_CALLS, Baseline, Floor, Load, Setup, Tokio, Work};

use crate::Rounds;
use crate::report::Report;
use crate::scene::Scene;

const CLASSES: [(&str, ExecutionClass); 3] =
    [("io", ExecutionClass::Io), ("inline", ExecutionClass::Inline), ("task", ExecutionClass::Task)];

/// 20 µs of CPU for each call.
pub(crate) fn compute(report: &mut Report, rounds: Rounds) {
    let scene = Scene::new(2);
    let setup = |class| Setup { work: Work::Compute(Duration::from_micros(20)), ..Setup::of(class) };
    let floor = Floor(Baseline::new(setup(ExecutionClass::Task)));
    let [io, inline, task] = CLASSES.map(|(_, class)| scene.engine(setup(class)));
    let load = Load::new(1, BASE_CALLS).with_batches(16);
    let lanes = [scene.lane(&floor, load), scene.lane(&io, load), scene.lane(&inline, load), scene.lane(&task, load)];
    let [floor, io, inline, task] = scene.race(rounds.of(150), lanes);
    for (name, samples) in [("io", io), ("inline", inline), ("task", task)] {
        report.ratio(format!("20 µs of CPU a call, `{name}`, over spawn + join"), samples.over(&floor), 1.1);
    }
}

/// Tools that wait: what it costs the processor, and how long a burst takes.
pub(crate) fn wait(report: &mut Report, rounds: Rounds) {
    let scene = Scene::new(2);
    let setup = |class, ms| Setup { work: Work::Sleep(Duration::from_millis(ms)), ..Setup::of(class) };

    let load = Load::new(64, BASE_CALLS).with_batches(8);
    let baseline = Baseline::new(setup(ExecutionClass::Task, 1));
    let (floor, tokio) = (Floor(baseline.clone()), Tokio(baseline));
    let (io, task) = (scene.engine(setup(ExecutionClass::Io, 1)), scene.engine(setup(ExecutionClass::Task, 1)));
    let (io, task) = (io.in_sessions(), task.in_sessions());
    let lanes = [
        scene.cpu_lane(&floor, load),
        scene.cpu_lane(&tokio, load),
        scene.cpu_lane(&io, load),
        scene.cpu_lane(&task, load),
    ];
    let [floor, tokio, io, task] = scene.race(rounds.of(50), lanes);
    report.ratio("16 calls of 1 ms, 64 sessions, CPU time, `io`, over spawn + join", io.over(&floor), 1.15);
    report.ratio("the same, `task`, over task + deadline + cancel", task.over(&tokio), None);

    let load = Load::new(1000, 8).with_batches(1);
    let floor = Floor(Baseline::new(setup(ExecutionClass::Task, 10)));
    let (io, task) = (scene.engine(setup(ExecutionClass::Io, 10)), scene.engine(setup(ExecutionClass::Task, 10)));
    let (io, task) = (io.in_sessions(), task.in_sessions());
    let lanes = [scene.lane(&floor, load), scene.lane(&io, load), scene.lane(&task, load)];
    let [floor, io, task] = scene.race(rounds.of(50), lanes);
    report.ratio("1,000 sessions × 8 calls of 10 ms, `io`, over spawn + join", io.over(&floor), 1.2);
    report.ratio("1,000 sessions × 8 calls of 10 ms, `task`, over spawn + join", task.over(&floor), 1.2);
}

//! The whole path: resolve, gates, validation, deadline, cancel, metrics, aggregate.

use toolyard::ExecutionClass;
use toolyard_bench::{BASE_CALLS, Baseline, Floor, Load, Setup, Started, Tokio};

use crate::Rounds;
use crate::report::Report;
use crate::scene::Scene;

/// Sessions that run batches at the same time, each in a session of the engine, and how many samples are taken of them.
const SESSIONS: [(usize, usize); 3] = [(1, 300), (64, 200), (1000, 30)];

/// No-op calls of each class beside plain tokio.
pub(crate) fn whole_path(report: &mut Report, rounds: Rounds) {
    for (workers, name, bound) in [(2, "2 workers", 0.7), (1, "1 worker", 1.0)] {
        let scene = Scene::new(workers);
        for (sessions, samples) in SESSIONS {
            let place = format!("{name}, sessions: {sessions}");
            measure(report, &scene, &place, sessions, bound, rounds.of(samples));
        }
    }
    // Good to know: without sessions, and on a runtime that has no other thread to wake.
    let scene = Scene::one_thread();
    let (floor, io) = (floor(), scene.engine(Setup::of(ExecutionClass::Io)));
    let load = Load::new(1, BASE_CALLS);
    let [floor, io] = scene.race(rounds.of(300), [scene.lane(&floor, load), scene.lane(&io, load)]);
    report.ratio("whole path, `io`, one thread, without a session, over spawn + join", io.over(&floor), None);
}

fn measure(report: &mut Report, scene: &Scene, place: &str, sessions: usize, bound: f64, rounds: usize) {
    let of = |class| scene.engine(Setup::of(class)).in_sessions();
    let (io, inline, task) = (of(ExecutionClass::Io), of(ExecutionClass::Inline), of(ExecutionClass::Task));
    let (floor, tokio) = (floor(), Tokio(Baseline::new(Setup::of(ExecutionClass::Task))));
    let load = Load::new(sessions, BASE_CALLS);
    let lanes = [
        scene.lane(&floor, load),
        scene.lane(&tokio, load),
        scene.lane(&io, load),
        scene.lane(&inline, load),
        scene.lane(&task, load),
    ];
    let [floor, tokio, io, inline, task] = scene.race(rounds, lanes);
    report.add(format!("spawn + join, a call, {place}"), floor.figure(), "ns", None);
    report.ratio(format!("whole path, `io`, {place}, over spawn + join"), io.over(&floor), bound);
    report.ratio(format!("whole path, `inline`, {place}, over spawn + join"), inline.over(&floor), bound);
    report.ratio(format!("whole path, `task`, {place}, over task + deadline + cancel"), task.over(&tokio), 1.0);
    report.ratio(format!("whole path, `task`, {place}, over spawn + join"), task.over(&floor), 2.5);
}

/// The same through the registry actor's task.
pub(crate) fn start(report: &mut Report, rounds: Rounds) {
    let scene = Scene::new(2);
    for (name, class, bound) in [("task", ExecutionClass::Task, Some(1.6)), ("io", ExecutionClass::Io, None)] {
        let engine = scene.engine(Setup::of(class)).in_sessions();
        let started = Started(engine.clone());
        for (sessions, samples) in [(1, 300), (64, 100)] {
            let load = Load::new(sessions, BASE_CALLS);
            let lanes = [scene.lane(&engine, load), scene.lane(&started, load)];
            let [dispatch, start] = scene.race(rounds.of(samples), lanes);
            // The bound is for one batch at a time, like the others of this kind.
            let bound = bound.filter(|_| sessions == 1);
            report.ratio(
                format!("`start`, `{name}`, sessions: {sessions}, over `dispatch`"),
                start.over(&dispatch),
                bound,
            );
        }
    }
}

fn floor() -> Floor {
    Floor(Baseline::new(Setup::of(ExecutionClass::Task)))
}

//! Dispatch alone, as far as the public API can leave the rest out: the tools have no schema, no recorder is installed, no
//! session, no policy. It still resolves names, goes through the gates with nothing to refuse, reads the (empty)
//! arguments, makes a deadline, counts into the engine's own buckets, and aggregates.

use toolyard::ExecutionClass;
use toolyard_bench::{BASE_CALLS, Baseline, Floor, Load, Setup};

use crate::Rounds;
use crate::report::Report;
use crate::scene::Scene;

/// No-op calls of tools without a schema beside plain tokio.
pub(crate) fn alone(report: &mut Report, rounds: Rounds) {
    let scene = Scene::new(2);
    let setup = Setup { schema: false, ..Setup::of(ExecutionClass::Io) };
    let (floor, io) = (Floor(Baseline::new(setup.clone())), scene.engine(setup));
    for (sessions, samples) in [(1, 300), (64, 200)] {
        let load = Load::new(sessions, BASE_CALLS);
        let [floor, io] = scene.race(rounds.of(samples), [scene.lane(&floor, load), scene.lane(&io, load)]);
        let work = format!("dispatch alone, `io`, 2 workers, sessions: {sessions}, over spawn + join");
        report.ratio(work, io.over(&floor), 0.25);
    }
}

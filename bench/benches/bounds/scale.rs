//! What more tools, providers and sessions cost a call.

use toolyard::ExecutionClass;
use toolyard_bench::{BASE_CALLS, Load, Setup};

use crate::Rounds;
use crate::report::Report;
use crate::scene::Scene;

/// Large registries beside small ones, many sessions beside few.
pub(crate) fn scale(report: &mut Report, rounds: Rounds) {
    let scene = Scene::new(2);
    let small = scene.engine(Setup::of(ExecutionClass::Io));
    let large = scene.engine(Setup { providers: 50, tools: 5_000, ..Setup::of(ExecutionClass::Io) });
    let load = Load::new(1, BASE_CALLS);
    let [few, many] = scene.race(rounds.of(300), [scene.lane(&small, load), scene.lane(&large, load)]);
    report.ratio("a call at 5,000 tools and 50 providers, over 50 and 5", many.over(&few), 1.1);

    let engine = small.in_sessions();
    let lanes = [
        scene.lane(&engine, Load::new(64, BASE_CALLS)),
        scene.lane(&engine, Load::new(10_000, BASE_CALLS).with_batches(2)),
    ];
    let [few, many] = scene.race(rounds.of(30), lanes);
    report.ratio("a call at 10,000 sessions, over 64", many.over(&few), 1.5);
}

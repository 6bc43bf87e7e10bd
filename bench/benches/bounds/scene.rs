//! Scene: a runtime and the engines on it.

use std::cell::RefCell;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use toolyard::ToolRegistry;
use toolyard_bench::{Engine, Load, Setup, Spent, Timed};

use crate::race::{Lane, Samples, race};

/// A runtime and the engines on it.
pub(crate) struct Scene {
    pub(crate) runtime: Runtime,
    started: RefCell<Vec<ToolRegistry>>,
}

// === impl Scene ===

impl Scene {
    /// With this many workers.
    pub(crate) fn new(workers: usize) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        Self { runtime, started: RefCell::default() }
    }

    /// With one thread that does everything.
    pub(crate) fn one_thread() -> Self {
        Self { runtime: Builder::new_current_thread().enable_all().build().unwrap(), started: RefCell::default() }
    }

    pub(crate) fn engine(&self, setup: Setup) -> Engine {
        let engine = self.runtime.block_on(Engine::start(setup));
        self.started.borrow_mut().push(engine.registry().clone());
        engine
    }

    /// A subject that is timed by the clock.
    pub(crate) fn lane<'a>(&'a self, subject: &'a dyn Timed, load: Load) -> Lane<'a> {
        self.lane_of(subject, load, |spent| spent.wall)
    }

    /// A subject whose cost is the processor's time.
    pub(crate) fn cpu_lane<'a>(&'a self, subject: &'a dyn Timed, load: Load) -> Lane<'a> {
        self.lane_of(subject, load, |spent| spent.cpu)
    }

    fn lane_of<'a>(&'a self, subject: &'a dyn Timed, load: Load, cost: fn(Spent) -> Duration) -> Lane<'a> {
        Box::new(move || cost(subject.time(&self.runtime, load)).as_secs_f64() * 1e9 / load.total() as f64)
    }

    /// Runs the subjects in turn; between rounds it does what the daemon does every few seconds.
    pub(crate) fn race<const N: usize>(&self, rounds: usize, lanes: [Lane<'_>; N]) -> [Samples; N] {
        race(rounds, lanes, || self.started.borrow().iter().for_each(ToolRegistry::publish_metrics))
    }
}

//! What is measured: the engine in four ways, beside plain tokio in two.

use tokio::runtime::{Builder, Runtime};
use toolyard::ExecutionClass;
use toolyard_bench::{Baseline, Engine, Floor, Setup, Started, Timed, Tokio};

const WORKERS: usize = 2;

/// The runtime of all subjects.
pub(crate) struct Scene {
    pub(crate) runtime: Runtime,
}

/// Everything that runs the same batches.
#[derive(Clone)]
pub(crate) struct Subjects {
    baseline: Baseline,
    io: Engine,
    inline: Engine,
    task: Engine,
}

// === impl Scene ===

impl Scene {
    pub(crate) fn new() -> Self {
        Self { runtime: Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().unwrap() }
    }

    /// All that the setup describes; its class is each subject's own.
    pub(crate) fn subjects(&self, setup: &Setup) -> Subjects {
        let engine = |class| self.runtime.block_on(Engine::start(Setup { class, ..setup.clone() }));
        Subjects {
            baseline: Baseline::new(setup.clone()),
            io: engine(ExecutionClass::Io),
            inline: engine(ExecutionClass::Inline),
            task: engine(ExecutionClass::Task),
        }
    }
}

// === impl Subjects ===

impl Subjects {
    /// The same, whose batches belong to sessions of the engine.
    pub(crate) fn in_sessions(&self) -> Self {
        let Self { baseline, io, inline, task } = self.clone();
        Self { baseline, io: io.in_sessions(), inline: inline.in_sessions(), task: task.in_sessions() }
    }

    /// Each with its name. `start` is of class `task`.
    pub(crate) fn all(&self) -> [(&'static str, Box<dyn Timed>); 6] {
        let Self { baseline, io, inline, task } = self.clone();
        [
            ("tokio", Box::new(Tokio(baseline.clone()))),
            ("tokio-floor", Box::new(Floor(baseline))),
            ("io", Box::new(io)),
            ("inline", Box::new(inline)),
            ("task", Box::new(task.clone())),
            ("start", Box::new(Started(task))),
        ]
    }
}

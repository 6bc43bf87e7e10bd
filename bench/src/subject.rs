//! Subject: whatever runs batches of calls, and how it is timed.

use tokio::runtime::Runtime;
use toolyard::ToolBatch;

use crate::{Baseline, Calls, Engine, Meter, Spent};

/// Calls that a sample of one session has at least, so that it is long enough to be timed.
const MIN_CALLS: usize = 1024;
/// Batches that a session runs at least, so that its own task does not count.
const MIN_BATCHES: usize = 4;

/// Whatever runs batches of calls.
pub trait Subject: Clone + Send + Sync + 'static {
    /// A batch, ready to be run.
    type Batch: Send + 'static;

    /// Makes the `turn`th batch, which is session number `session`'s.
    fn batch(&self, session: usize, turn: usize, calls: usize) -> Self::Batch;

    /// Runs it, and sees to it that every call went well.
    fn run(&self, batch: Self::Batch) -> impl Future<Output = ()> + Send;
}

/// How much is run in one sample.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Sessions that run batches at the same time.
    pub sessions: usize,
    /// Batches that each of them runs, one after the other.
    pub batches: usize,
    /// Calls of each batch.
    pub calls: usize,
}

/// A [`Subject`], whatever its batches are.
pub trait Timed {
    /// Times one sample. Making the batches is not timed.
    fn time(&self, runtime: &Runtime, load: Load) -> Spent;
}

/// Plain tokio: a task per call and an ordered join, nothing else.
#[derive(Clone, Debug)]
pub struct Floor(pub Baseline);

/// Plain tokio: a task per call with a deadline and a cancel token, and an ordered join.
#[derive(Clone, Debug)]
pub struct Tokio(pub Baseline);

/// [`Engine::start_and_wait`]; the engine itself is [`Engine::dispatch`].
#[derive(Clone, Debug)]
pub struct Started(pub Engine);

// === impl Load ===

impl Load {
    /// As many batches for each session as make a sample long enough.
    pub fn new(sessions: usize, calls: usize) -> Self {
        Self { sessions, batches: (MIN_CALLS / (sessions * calls)).max(MIN_BATCHES), calls }
    }

    /// The same with this many batches for each session.
    #[must_use]
    pub fn with_batches(mut self, batches: usize) -> Self {
        self.batches = batches;
        self
    }

    /// Calls of the whole sample.
    pub fn total(self) -> usize {
        self.sessions * self.batches * self.calls
    }
}

// === impl Timed ===

impl<S: Subject> Timed for S {
    fn time(&self, runtime: &Runtime, load: Load) -> Spent {
        let of_session = |session| {
            let turns = session * load.batches..(session + 1) * load.batches;
            turns.map(|turn| self.batch(session, turn, load.calls)).collect()
        };
        let work: Vec<Vec<S::Batch>> = (0..load.sessions).map(of_session).collect();
        let subject = self.clone();
        // On a worker: the thread that waits for the runtime would be woken by the clock's last moment otherwise.
        runtime.block_on(async { tokio::spawn(run_all(subject, work)).await.unwrap() })
    }
}

async fn run_all<S: Subject>(subject: S, mut work: Vec<Vec<S::Batch>>) -> Spent {
    let meter = Meter::start();
    if work.len() == 1 {
        run_session(subject, work.remove(0)).await;
    } else {
        let sessions: Vec<_> =
            work.into_iter().map(|batches| tokio::spawn(run_session(subject.clone(), batches))).collect();
        for session in sessions {
            session.await.unwrap();
        }
    }
    meter.stop()
}

async fn run_session<S: Subject>(subject: S, batches: Vec<S::Batch>) {
    for batch in batches {
        subject.run(batch).await;
    }
}

// === impl Subject ===

impl Subject for Floor {
    type Batch = Calls;

    fn batch(&self, _session: usize, turn: usize, calls: usize) -> Calls {
        self.0.batch(turn, calls)
    }

    async fn run(&self, batch: Calls) {
        self.0.spawn_and_join(batch).await;
    }
}

impl Subject for Tokio {
    type Batch = Calls;

    fn batch(&self, _session: usize, turn: usize, calls: usize) -> Calls {
        self.0.batch(turn, calls)
    }

    async fn run(&self, batch: Calls) {
        self.0.run(batch).await;
    }
}

impl Subject for Engine {
    type Batch = ToolBatch;

    fn batch(&self, session: usize, turn: usize, calls: usize) -> ToolBatch {
        self.batch(session, turn, calls)
    }

    async fn run(&self, batch: ToolBatch) {
        self.dispatch(batch).await;
    }
}

impl Subject for Started {
    type Batch = ToolBatch;

    fn batch(&self, session: usize, turn: usize, calls: usize) -> ToolBatch {
        self.0.batch(session, turn, calls)
    }

    async fn run(&self, batch: ToolBatch) {
        self.0.start_and_wait(batch).await;
    }
}

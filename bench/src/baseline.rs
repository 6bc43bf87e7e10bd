//! What one would write on plain tokio for the same duty: a table of handlers, a task per call with a deadline and a
//! cancel token, results in order. It reads no arguments, checks nothing and counts nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ahash::RandomState;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::work::compute;
use crate::{Setup, Work};

const DEADLINE: Duration = Duration::from_secs(30);

type Handler = Arc<dyn Fn(Arc<str>) -> BoxFuture<'static, String> + Send + Sync>;

/// Handlers by name.
#[derive(Clone)]
pub struct Baseline {
    handlers: Arc<HashMap<String, Handler, RandomState>>,
    setup: Arc<Setup>,
}

/// The calls of a batch: names and arguments.
pub type Calls = Vec<(String, Arc<str>)>;

// === impl Baseline ===

impl Baseline {
    /// Handlers that do the setup's work, under the engine's names.
    pub fn new(setup: Setup) -> Self {
        setup.work.prepare();
        let handler = handler(setup.work, setup.answer());
        let handlers = (0..setup.tools).map(|number| (setup.tool(number), Arc::clone(&handler))).collect();
        Self { handlers: Arc::new(handlers), setup: Arc::new(setup) }
    }

    /// A batch of `calls` calls, the `turn`th of many.
    pub fn batch(&self, turn: usize, calls: usize) -> Calls {
        (turn * calls..(turn + 1) * calls).map(|call| (self.setup.tool(call), self.setup.arguments())).collect()
    }

    /// A task per call, each with a deadline and a cancel token; results in call order.
    pub async fn run(&self, calls: Calls) {
        let cancel = CancellationToken::new();
        let tasks: Vec<_> = calls
            .into_iter()
            .map(|(name, arguments)| {
                let (handler, cancel) = (Arc::clone(&self.handlers[&name]), cancel.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => None,
                        done = tokio::time::timeout(DEADLINE, handler(arguments)) => done.ok(),
                    }
                })
            })
            .collect();
        let mut results = Vec::with_capacity(tasks.len());
        for task in tasks {
            results.push(task.await.ok().flatten());
        }
        assert!(results.iter().all(Option::is_some));
    }

    /// A task per call and an ordered join, nothing else: the floor of any design with a task per call.
    pub async fn spawn_and_join(&self, calls: Calls) {
        let tasks: Vec<_> =
            calls.into_iter().map(|(name, arguments)| tokio::spawn((self.handlers[&name])(arguments))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    }
}

fn handler(work: Work, answer: String) -> Handler {
    match work {
        Work::Nothing => Arc::new(move |_arguments| Box::pin(std::future::ready(answer.clone()))),
        Work::Yield => Arc::new(move |_arguments| {
            let answer = answer.clone();
            Box::pin(async move {
                tokio::task::yield_now().await;
                answer
            })
        }),
        Work::Sleep(time) => Arc::new(move |_arguments| {
            let answer = answer.clone();
            Box::pin(async move {
                tokio::time::sleep(time).await;
                answer
            })
        }),
        Work::Compute(time) => Arc::new(move |_arguments| {
            let answer = answer.clone();
            Box::pin(async move {
                compute(time);
                answer
            })
        }),
    }
}

impl std::fmt::Debug for Baseline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Baseline").field("handlers", &self.handlers.len()).finish_non_exhaustive()
    }
}

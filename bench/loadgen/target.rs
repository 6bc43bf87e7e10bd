//! The target: what batches are sent to. All three kinds give one end for each call, in call order, whatever happens.

mod answer;
mod embedded;
mod http;
mod loss;
mod mcp;
mod pool;
mod script;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolyard::CallStatus;

pub(crate) use loss::Loss;
pub(crate) use script::SCRIPTED_PANIC;

use crate::scenario::{Scenario, TargetKind};
use embedded::Embedded;
use http::Http;
use mcp::Mcp;

/// How long a target may lack tools before the run is given up.
const PATIENCE: Duration = Duration::from_secs(3);

/// What batches are sent to.
#[derive(Debug)]
pub(crate) enum Target {
    Embedded(Embedded),
    Http(Http),
    Mcp(Mcp),
    /// For tests of the loops.
    #[cfg(all(test, feature = "paused-time"))]
    Stalling(Stalling),
}

/// Takes its time, and answers nobody for a while.
#[cfg(all(test, feature = "paused-time"))]
#[derive(Debug)]
pub(crate) struct Stalling {
    pub(crate) takes: Duration,
    pub(crate) from: tokio::time::Instant,
    pub(crate) until: tokio::time::Instant,
}

/// The batch that is under way, with room that the next one uses again.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// The tools of its calls.
    pub(crate) hand: Vec<usize>,
    /// How its calls ended: as many as there are in the hand once the batch has run.
    pub(crate) ends: Vec<CallEnd>,
}

/// How one call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallEnd {
    /// What the target said of it, or why it said nothing.
    pub(crate) status: Result<CallStatus, Loss>,
    /// From the start of the batch, as the target measured it; of MCP, as it was measured here.
    pub(crate) took: Duration,
}

/// Why there is nothing to send to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("cannot reach {url}: {loss}")]
    Unreachable { url: String, loss: Loss },
    #[error("{0}")]
    Environment(String),
    #[error("{url} has no tool {}; `loadgen --print-config` prints the configuration that provides {}", quoted(.names), if .names.len() == 1 { "it" } else { "them" })]
    NoTools { url: String, names: Vec<String> },
    #[error("the engine does not start: {0}")]
    Engine(String),
}

/// The tools that calls can go to, as they are sent.
#[derive(Clone, Debug)]
struct Callee {
    name: Arc<str>,
    /// JSON text.
    arguments: Arc<str>,
}

// === impl Target ===

impl Target {
    /// Starts the engine, or sees that the remote target is there and has the scenario's tools.
    pub(crate) async fn open(scenario: &Scenario) -> Result<Self, TargetError> {
        Ok(match scenario.target.kind {
            TargetKind::Embedded => Self::Embedded(Embedded::start(scenario).await?),
            TargetKind::Http => Self::Http(Http::open(scenario).await?),
            TargetKind::Mcp => Self::Mcp(Mcp::open(scenario).await?),
        })
    }

    /// Runs the batch of `work.hand` in a session, and fills `work.ends`.
    pub(crate) async fn run(&self, session: u32, work: &mut Work) {
        work.ends.clear();
        match self {
            Self::Embedded(engine) => engine.run(session, work).await,
            Self::Http(http) => http.run(session, work).await,
            Self::Mcp(mcp) => mcp.run(session, work).await,
            #[cfg(all(test, feature = "paused-time"))]
            Self::Stalling(stalling) => stalling.run(work).await,
        }
    }

    /// Ends what was started.
    pub(crate) async fn close(self) {
        match self {
            Self::Embedded(engine) => engine.close().await,
            Self::Mcp(mcp) => mcp.close().await,
            Self::Http(_) => {}
            #[cfg(all(test, feature = "paused-time"))]
            Self::Stalling(_) => {}
        }
    }
}

#[cfg(all(test, feature = "paused-time"))]
impl Stalling {
    async fn run(&self, work: &mut Work) {
        let began = tokio::time::Instant::now();
        if (self.from..self.until).contains(&began) {
            tokio::time::sleep_until(self.until).await;
        }
        tokio::time::sleep(self.takes).await;
        let end = CallEnd { status: Ok(CallStatus::Ok), took: began.elapsed() };
        work.ends.extend(work.hand.iter().map(|_| end));
    }
}

// === impl Work ===

impl Work {
    /// Every call of the batch ends like this.
    fn lose(&mut self, loss: Loss) {
        self.ends.clear();
        self.ends.extend(self.hand.iter().map(|_| CallEnd { status: Err(loss), took: Duration::ZERO }));
    }
}

fn callees(scenario: &Scenario) -> Vec<Callee> {
    let callee = |tool: &crate::scenario::Tool| Callee {
        name: tool.name.as_str().into(),
        arguments: tool.arguments.as_str().into(),
    };
    scenario.tools.iter().map(callee).collect()
}

/// Ids of a batch's calls.
fn call_id(index: usize) -> String {
    format!("c{index}")
}

/// Sees that a target has the scenario's tools. One that has just been started may list them a moment later.
async fn find_tools(
    scenario: &Scenario,
    url: &str,
    list: impl AsyncFn() -> Result<Vec<String>, Loss>,
) -> Result<(), TargetError> {
    let gives_up = Instant::now() + PATIENCE;
    loop {
        let listed = list().await.map_err(|loss| TargetError::Unreachable { url: url.to_owned(), loss })?;
        let names = scenario.tools.iter().map(|tool| &tool.name).filter(|name| !listed.contains(name));
        let names: Vec<String> = names.cloned().collect();
        if names.is_empty() {
            return Ok(());
        }
        if Instant::now() >= gives_up {
            return Err(TargetError::NoTools { url: url.to_owned(), names });
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
    let more =
        if names.len() > shown.len() { format!(" and {} more", names.len() - shown.len()) } else { String::new() };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests;

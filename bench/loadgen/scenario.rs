//! The scenario: one TOML file, read whole or refused with every error at once. docs/loadgen.md has every key.

mod batch;
mod daemon;
mod error;
mod load;
mod objective;
mod reader;
mod target;
mod tool;
mod way;

use std::path::Path;

pub(crate) use batch::BatchKeys;
pub(crate) use error::ScenarioErrors;
pub(crate) use load::{Arrivals, LoadKeys, PhaseKeys};
pub(crate) use objective::ObjectiveKeys;
pub(crate) use target::{EmbeddedMode, TargetKeys, TargetKind};
pub(crate) use tool::Tool;
pub(crate) use way::{End, Way};

/// Connections at once where the scenario does not say.
const DEFAULT_CONNECTIONS: usize = 1_024;

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// Decides every choice: two runs of one seed choose the same shapes, tools and arrivals.
    pub(crate) seed: u64,
    pub(crate) target: TargetKeys,
    pub(crate) load: LoadKeys,
    /// At least one.
    pub(crate) phases: Vec<PhaseKeys>,
    /// At least one.
    pub(crate) batches: Vec<BatchKeys>,
    /// At least one.
    pub(crate) tools: Vec<Tool>,
    pub(crate) objectives: ObjectiveKeys,
}

/// What the command line says instead of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) url: Option<String>,
    pub(crate) pid: Option<u32>,
    /// Whether a remote target may go without an address.
    pub(crate) needs_no_url: bool,
}

// === impl Scenario ===

impl Scenario {
    /// Reads a file.
    pub(crate) fn read(path: &Path, overrides: &Overrides) -> Result<Self, ScenarioErrors> {
        let source = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ScenarioErrors::unreadable(&source, &error))?;
        let mut scenario = reader::read(&source, &text, overrides)?;
        if scenario.name.is_empty() {
            scenario.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        Ok(scenario)
    }

    /// For tests: reads a text.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Result<Self, ScenarioErrors> {
        reader::read("test.toml", text, &Overrides::default())
    }

    /// Calls of its largest batch.
    pub(crate) fn max_calls(&self) -> usize {
        self.batches.iter().map(|batch| batch.calls).max().unwrap_or(1)
    }

    /// Sessions, at the time when there are most.
    pub(crate) fn max_sessions(&self) -> u32 {
        self.phases.iter().filter_map(|phase| phase.sessions).max().unwrap_or(0).max(self.load.sessions)
    }

    /// Connections at once: by themselves as many as there may be batches under way, up to a bound.
    pub(crate) fn connections(&self) -> usize {
        let under_way = if self.load.is_open() { self.load.max_outstanding } else { self.max_sessions() as usize };
        let calls = if self.target.kind == TargetKind::Mcp { self.max_calls() } else { 1 };
        self.target.connections.unwrap_or(under_way.saturating_mul(calls).min(DEFAULT_CONNECTIONS))
    }

    /// The configuration of a daemon that has the scenario's tools.
    pub(crate) fn daemon_configuration(&self) -> String {
        daemon::configuration(self)
    }
}

#[cfg(test)]
mod tests;

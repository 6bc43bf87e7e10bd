//! Baseline: failures that are known, each with its reason.

use serde::Deserialize;

use crate::environment::Environment;

/// `tests/conformance/baseline.json`.
#[derive(Debug, Deserialize)]
pub(super) struct Baseline {
    known: Vec<Known>,
}

/// One failure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    /// Where it happens, as `target/suite/set`.
    runs: Vec<String>,
    scenario: String,
    check: String,
    /// For people.
    reason: String,
}

// === impl Baseline ===

impl Baseline {
    pub(super) fn read(environment: &Environment) -> Result<Self, String> {
        let path = environment.root.join("tests/conformance/baseline.json");
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let baseline: Self = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        match baseline.known.iter().find(|known| known.reason.trim().is_empty()) {
            Some(known) => Err(format!("{}: {} has no reason", path.display(), known.check)),
            None => Ok(baseline),
        }
    }

    pub(super) fn expects(&self, run: &str, scenario: &str, check: &str) -> bool {
        self.known.iter().any(|known| known.is(run, scenario, check))
    }

    /// Entries of these runs whose failure was not seen.
    pub(super) fn stale(&self, runs: &[&str], was_seen: impl Fn(&str, &str, &str) -> bool) -> Vec<String> {
        let mut stale = Vec::new();
        for known in &self.known {
            for run in known.runs.iter().filter(|run| runs.contains(&run.as_str())) {
                if !was_seen(run, &known.scenario, &known.check) {
                    let (scenario, check) = (&known.scenario, &known.check);
                    stale.push(format!("{run}: {scenario} passes {check}, but the baseline says that it fails"));
                }
            }
        }
        stale
    }
}

// === impl Known ===

impl Known {
    fn is(&self, run: &str, scenario: &str, check: &str) -> bool {
        self.scenario == scenario && self.check == check && self.runs.iter().any(|known| known == run)
    }
}

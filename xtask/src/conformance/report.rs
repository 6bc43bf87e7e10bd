//! Report: what the runs came to.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::baseline::Baseline;
use crate::steps::say;

/// Characters of the time that the suites put behind a scenario's name: `-2026-01-02T03-04-05-678Z`.
const STAMP: usize = 25;
/// What the suites print about a client that did not end well.
const BAD_ENDS: [&str; 2] = ["CLIENT TIMED OUT", "CLIENT EXITED WITH ERROR"];

/// All runs so far.
pub(super) struct Report {
    only: String,
    outcomes: Vec<Outcome>,
}

/// What one run came to.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    name: String,
    scenarios: Vec<Scenario>,
    /// How many scenarios there are to be.
    expected: usize,
    /// Scenarios that were run and do not count.
    aside: usize,
    took: Duration,
}

#[derive(Debug)]
struct Scenario {
    name: String,
    checks: Vec<Check>,
}

/// One line of a scenario's results.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    #[serde(default)]
    name: String,
    status: String,
    error_message: Option<String>,
}

// === impl Report ===

impl Report {
    pub(super) const fn new(only: String) -> Self {
        Self { only, outcomes: Vec::new() }
    }

    /// Whether a run of this name was asked for.
    pub(super) fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    pub(super) fn take(&mut self, outcome: Outcome) {
        say(&format!("== {}: {} of {} scenarios", outcome.name, outcome.passed(), outcome.expected));
        self.outcomes.push(outcome);
    }

    /// A table in Markdown.
    pub(super) fn print(&self) {
        say("\n| target | suite | set | scenarios | checks | warnings | seconds |\n|---|---|---|---:|---:|---:|---:|");
        for outcome in &self.outcomes {
            let mut parts = outcome.name.splitn(3, '/');
            let mut part = || parts.next().unwrap_or_default();
            let (good, bad) = (outcome.count("SUCCESS"), outcome.count("FAILURE"));
            let (target, suite, set) = (part(), part(), part());
            let (passed, expected, all) = (outcome.passed(), outcome.expected, good + bad);
            let (warnings, seconds) = (outcome.count("WARNING"), outcome.took.as_secs());
            say(&format!(
                "| {target} | {suite} | {set} | {passed}/{expected} | {good}/{all} | {warnings} | {seconds} |"
            ));
        }
        say("");
    }

    /// # Errors
    /// Something failed that is not known to, or did not fail that is, or did not run.
    pub(super) fn judge(&self, baseline: &Baseline) -> Result<(), String> {
        let mut faults = Vec::new();
        for outcome in &self.outcomes {
            faults.extend(outcome.faults(baseline));
        }
        let failed: Vec<_> = self.outcomes.iter().flat_map(Outcome::failures).collect();
        let runs: Vec<&str> = self.outcomes.iter().map(|outcome| &*outcome.name).collect();
        let was_seen = |run: &str, scenario: &str, check: &str| failed.contains(&(run, scenario, check));
        faults.extend(baseline.stale(&runs, was_seen));
        if faults.is_empty() { Ok(()) } else { Err(format!("conformance:\n  {}", faults.join("\n  "))) }
    }
}

// === impl Outcome ===

impl Outcome {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Reads what a suite has left in a folder.
    pub(super) fn read(name: &str, folder: &Path, took: Duration) -> Result<Self, String> {
        let mut outcome = Self { took, ..Self::new(name) };
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let Ok(text) = std::fs::read_to_string(entry.path().join("checks.json")) else { continue };
            let checks = serde_json::from_str(&text)
                .map_err(|error| format!("{} is no list of checks: {error}", entry.path().display()))?;
            let stamped = entry.file_name().to_string_lossy().into_owned();
            let dated = stamped.get(..stamped.len().saturating_sub(STAMP)).unwrap_or_default();
            let scenario =
                if name.starts_with("client/") { dated } else { dated.strip_prefix("server-").unwrap_or(dated) };
            outcome.scenarios.push(Scenario { name: scenario.to_owned(), checks });
        }
        let log = std::fs::read_to_string(folder.join("log.txt")).unwrap_or_default();
        if let Some(end) = BAD_ENDS.into_iter().find(|end| log.contains(end)) {
            let check = Check::failed("client-ended", end);
            outcome.scenarios.iter_mut().for_each(|scenario| scenario.checks.push(check.clone()));
        }
        outcome.scenarios.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(outcome)
    }

    /// The scenarios of another run count as this one's.
    pub(super) fn add(&mut self, other: Self) {
        self.scenarios.extend(other.scenarios);
        self.took += other.took;
    }

    pub(super) fn expecting(mut self, scenarios: usize) -> Self {
        self.expected = scenarios;
        self
    }

    /// Only these scenarios count.
    pub(super) fn scoring(mut self, required: &[String]) -> Self {
        let all = self.scenarios.len();
        self.scenarios.retain(|scenario| required.contains(&scenario.name));
        self.aside = all - self.scenarios.len();
        self.expecting(required.len())
    }

    fn passed(&self) -> usize {
        self.scenarios.iter().filter(|scenario| scenario.failures().next().is_none()).count()
    }

    fn count(&self, status: &str) -> usize {
        let checks = self.scenarios.iter().flat_map(|scenario| &scenario.checks);
        checks.filter(|check| check.status == status).count()
    }

    /// Run, scenario and check of everything that failed.
    fn failures(&self) -> Vec<(&str, &str, &str)> {
        let mut failures = Vec::new();
        for scenario in &self.scenarios {
            failures.extend(scenario.failures().map(|check| (&*self.name, &*scenario.name, &*check.id)));
        }
        failures
    }

    fn faults(&self, baseline: &Baseline) -> Vec<String> {
        let mut faults = Vec::new();
        if self.scenarios.len() != self.expected {
            faults.push(format!("{}: {} of {} scenarios were run", self.name, self.scenarios.len(), self.expected));
        }
        for scenario in &self.scenarios {
            for check in scenario.failures() {
                if !baseline.expects(&self.name, &scenario.name, &check.id) {
                    let why = check.error_message.as_deref().unwrap_or(&check.name);
                    faults.push(format!("{}: {} fails {}: {why}", self.name, scenario.name, check.id));
                }
            }
        }
        faults
    }
}

// === impl Scenario ===

impl Scenario {
    fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.status == "FAILURE")
    }
}

// === impl Check ===

impl Check {
    fn failed(id: &str, why: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: String::new(),
            status: "FAILURE".to_owned(),
            error_message: Some(why.to_owned()),
        }
    }
}

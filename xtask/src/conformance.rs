//! `cargo xtask conformance`: the Model Context Protocol's own conformance suites against Toolyard.
//!
//! `native` is a fixture of ours behind Toolyard's endpoint, `through …` the same fixture as an upstream server that is
//! reached through the daemon without a prefix, `client` Toolyard's client against the suites' own servers.

mod baseline;
mod report;
mod suite;
mod target;

use std::process::Command;

use crate::environment::Environment;
use crate::steps;
use baseline::Baseline;
use report::{Outcome, Report};
use suite::{Edition, Suites};
use target::{Fixture, Program};

/// Scenarios of 0.1.16's `active` set.
const ACTIVE: usize = 30;
/// Scenarios of the older suite for clients, without those of OAuth.
const OLD_CLIENT: [&str; 4] = ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"];
/// Scenarios of the newer suite for clients, without those of OAuth and of extensions, and the revision that each runs at.
const NEW_CLIENT: [(&str, &str); 13] = [
    ("initialize", "2025-11-25"),
    ("tools_call", "2025-11-25"),
    ("elicitation-sep1034-client-defaults", "2025-11-25"),
    ("sse-retry", "2025-11-25"),
    ("json-schema-2020-12-preservation", "2025-11-25"),
    ("tools_call", "2026-07-28"),
    ("request-metadata", "2026-07-28"),
    ("sep-2322-client-request-state", "2026-07-28"),
    ("http-standard-headers", "2026-07-28"),
    ("http-custom-headers", "2026-07-28"),
    ("http-invalid-tool-headers", "2026-07-28"),
    ("json-schema-ref-no-deref", "2026-07-28"),
    ("json-schema-2020-12-preservation", "2026-07-28"),
];

/// Runs everything, or only the runs whose names contain `only`, and prints what came of it.
pub(crate) fn run(environment: &Environment, only: &str) -> Result<(), String> {
    let suites = Suites::set_up(environment)?;
    let packages = ["--package", "toolyard-tests", "--package", "toolyard-server", "--bins"];
    let build: Vec<&str> = ["build", "--profile", "ci", "--locked"].into_iter().chain(packages).collect();
    steps::step("the fixtures and the binary under test", &mut steps::cargo(environment, &build))?;

    let mut report = Report::new(only.to_owned());
    for target in Fixture::ALL {
        if report.wants(target.name()) {
            let program = Program::start(environment, target)?;
            servers(&suites, target, &program, &mut report)?;
        }
    }
    if report.wants("client") {
        clients(&suites, environment, &mut report)?;
    }
    report.print();
    report.judge(&Baseline::read(environment)?)
}

/// Every required server scenario of both suites.
fn servers(suites: &Suites, fixture: Fixture, program: &Program, report: &mut Report) -> Result<(), String> {
    let target = fixture.name();
    let url = ["server", "--url", program.address()];
    let active = suites.run(Edition::Old, &format!("{target}/0.1.16/active"), &url)?;
    report.take(active.expecting(ACTIVE));
    for revision in fixture.revisions() {
        let set: Vec<&str> = url.iter().copied().chain(["--requirements", *revision]).collect();
        let outcome = suites.run(Edition::New, &format!("{target}/0.2.0-alpha.12/{revision}"), &set)?;
        report.take(outcome.scoring(&suites.required(revision, "server")?));
    }
    Ok(())
}

/// The scenarios for clients, one after the other: some measure time.
fn clients(suites: &Suites, environment: &Environment, report: &mut Report) -> Result<(), String> {
    let driver = environment.target.join("ci/conformance-client");
    let command = driver.to_str().ok_or("the target folder's name is not UTF-8")?;
    let client = |scenario| ["client", "--command", command, "--scenario", scenario];
    let mut old = Outcome::new("client/0.1.16/no OAuth");
    for scenario in OLD_CLIENT {
        old.add(suites.run_apart(Edition::Old, &format!("client/0.1.16/{scenario}"), &client(scenario))?);
    }
    report.take(old.expecting(OLD_CLIENT.len()));
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut new = Outcome::new(&format!("client/0.2.0-alpha.12/{revision}, no OAuth"));
        let scenarios = NEW_CLIENT.iter().filter(|(_, at)| *at == revision).map(|(scenario, _)| *scenario);
        for scenario in scenarios.clone() {
            let arguments: Vec<&str> = client(scenario).into_iter().chain(["--spec-version", revision]).collect();
            let name = format!("client/0.2.0-alpha.12/{revision}/{scenario}");
            new.add(suites.run_apart(Edition::New, &name, &arguments)?);
        }
        report.take(new.expecting(scenarios.count()));
    }
    Ok(())
}

/// Whether a command runs and ends well, with nothing shown.
fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

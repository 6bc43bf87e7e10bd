//! Toolyard's own tasks: `cargo xtask test` sets up what the tests need and runs every check.

mod conformance;
mod environment;
mod instructions;
mod steps;

use std::process::ExitCode;

use environment::Environment;

const USAGE: &str = "usage: cargo xtask <task>

tasks:
  test     set up what the tests need, then run every check, every test and the conformance suites, and count instructions
  setup    only set up what the tests need
  conformance [part of a target's name]
           only run the conformance suites of the Model Context Protocol
  instructions
           only count the instructions of a call, and hold them to their bounds
  corpora  run the tests that read public recordings from the folder in TOOLYARD_CORPORA
  lock     make the lock files of the Python and Node packages anew (needs uv)";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let done = match task.as_deref() {
        Some("test") => Environment::set_up().and_then(|environment| {
            steps::test(&environment)?;
            instructions::count(&environment)?;
            conformance::run(&environment, "")
        }),
        Some("setup") => Environment::set_up().map(drop),
        Some("conformance") => {
            let only = std::env::args().nth(2).unwrap_or_default();
            Environment::set_up().and_then(|environment| conformance::run(&environment, &only))
        }
        Some("instructions") => Environment::set_up().and_then(|environment| instructions::count(&environment)),
        Some("corpora") => Environment::set_up().and_then(|environment| steps::corpora(&environment)),
        Some("lock") => steps::lock(),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            steps::say(&format!("xtask: {reason}"));
            ExitCode::FAILURE
        }
    }
}

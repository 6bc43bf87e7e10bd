//! `cargo xtask instructions`: counts the instructions of a call with callgrind and holds them to their bounds, which
//! stand in bench/benches/instructions.rs.

use std::path::PathBuf;
use std::process::Command;

use crate::environment::{Environment, install_debian_package};
use crate::steps::{PAUSED, cargo, run, say, step};

/// What makes valgrind run a bench; its version has to be that of the library in Cargo.lock.
const RUNNER: &str = "gungraun-runner";

/// Counts, in the profile that everything of CI is built by.
pub(crate) fn count(environment: &Environment) -> Result<(), String> {
    if cfg!(not(target_os = "linux")) {
        say("== instructions of a call: left out, since there is no valgrind for this system");
        return Ok(());
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        install_debian_package("valgrind")?;
    }
    let runner = install_runner(environment)?;
    // With the features of the tests, so that what they are made of is not built anew.
    let bench =
        ["bench", "--workspace", "--features", PAUSED, "--bench", "instructions", "--profile", "ci", "--locked"];
    step("instructions of a call", cargo(environment, &bench).env("GUNGRAUN_RUNNER", runner))
}

/// The runner, built once for each version.
fn install_runner(environment: &Environment) -> Result<PathBuf, String> {
    let version = locked_version(environment)?;
    let home = environment.target.join("test-env").join(format!("{RUNNER}-{version}"));
    let runner = home.join("bin").join(RUNNER);
    if runner.exists() {
        return Ok(runner);
    }
    say(&format!("== set up: {RUNNER} {version}"));
    let built = home.join("build");
    let install = ["install", RUNNER, "--version", &version, "--locked", "--debug", "--quiet"];
    run(cargo(environment, &install).arg("--root").arg(&home).arg("--target-dir").arg(&built))?;
    std::fs::remove_dir_all(&built).ok();
    Ok(runner)
}

/// The version of the runner's own library in Cargo.lock.
fn locked_version(environment: &Environment) -> Result<String, String> {
    let path = environment.root.join("Cargo.lock");
    let lock = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let entry = format!("name = \"{RUNNER}\"");
    let mut after = lock.lines().skip_while(|line| *line != entry).skip(1);
    let version = after.next().and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    version.map(str::to_owned).ok_or_else(|| format!("{} has no {RUNNER}", path.display()))
}

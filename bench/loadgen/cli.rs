//! The command line.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::compare::{self, ResultsError};
use crate::report::{self, Results};
use crate::run;
use crate::scenario::{Overrides, Scenario, ScenarioErrors};
use crate::target::TargetError;

/// Drives Toolyard with a load scenario and measures it.
#[derive(Debug, Parser)]
#[command(name = "loadgen", version, about, after_help = HELP, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Run,
}

const HELP: &str = "Examples:
  loadgen bench/scenarios/quick.toml                      run a scenario and print what came of it
  loadgen sessions.toml --json new.json --html new.html   keep the results, and a page with charts
  loadgen --print-config daemon.toml > toolyard.toml      the configuration of a daemon with the scenario's tools
  loadgen daemon.toml --url http://127.0.0.1:7700 --pid 4711
                                                          drive that daemon, and measure its process too
  loadgen compare old.json new.json --tolerance 10        set two runs beside each other
  loadgen page new.json new.html                          make the page of results that were kept

Exit status: 0 all is well; 1 an objective is missed, or a comparison found something worse; 2 what was given cannot be
used; 3 an answer broke a promise (not one result for each call, in call order); 4 the target cannot be reached, or gave
no result at all.";

/// Runs a scenario.
#[derive(Debug, Args)]
struct Run {
    /// The scenario, a TOML file.
    #[arg(required = true)]
    scenario: Option<PathBuf>,
    /// Address of the target, instead of the scenario's.
    #[arg(long)]
    url: Option<String>,
    /// Process id of the target, whose CPU time and memory are then measured too.
    #[arg(long)]
    pid: Option<u32>,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as a page with charts.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
    /// Only print the configuration of a daemon that has the scenario's tools.
    #[arg(long)]
    print_config: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sets the results of two runs beside each other.
    Compare {
        /// What `--json` wrote of the earlier run.
        old: PathBuf,
        /// What it wrote of the later one.
        new: PathBuf,
        /// By how much a figure may be worse, in percent.
        #[arg(long, default_value_t = 10.0, value_parser = tolerance)]
        tolerance: f64,
    },
    /// Makes the page with charts of results that were kept.
    Page {
        /// What `--json` wrote.
        results: PathBuf,
        /// The page to write.
        page: PathBuf,
    },
}

/// Why the work cannot be done.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error("{0}")]
    Scenario(#[from] ScenarioErrors),
    #[error("{0}")]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("cannot write {path}: {error}")]
    Output { path: String, error: std::io::Error },
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}

/// What the program ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Well = 0,
    Missed = 1,
    Unusable = 2,
    Violated = 3,
    NoTarget = 4,
}

// === impl Cli ===

impl Cli {
    pub(crate) fn run(self) -> ExitCode {
        let done = match self.command {
            Some(Command::Compare { old, new, tolerance }) => compare_files(&old, &new, tolerance),
            Some(Command::Page { results, page }) => make_page(&results, &page),
            None => self.run.run(),
        };
        let verdict = done.unwrap_or_else(|error| {
            say(&format!("error: {error}"));
            error.verdict()
        });
        ExitCode::from(verdict as u8)
    }
}

// === impl Run ===

impl Run {
    fn run(self) -> Result<Verdict, CliError> {
        let path = self.scenario.clone().unwrap_or_default();
        let overrides = Overrides { url: self.url.clone(), pid: self.pid, needs_no_url: self.print_config };
        let scenario = Scenario::read(&path, &overrides)?;
        if self.print_config {
            print(&scenario.daemon_configuration())?;
            return Ok(Verdict::Well);
        }
        // Not after an hour's run.
        for file in [&self.json, &self.html].into_iter().flatten() {
            write(file, "")?;
        }
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let workers = scenario.target.workers.unwrap_or_else(cores);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
        let results = runtime.map_err(CliError::Runtime)?.block_on(run::run(&scenario, workers, self.quiet))?;
        self.tell(&results)?;
        Ok(Verdict::of(&results))
    }

    fn tell(&self, results: &Results) -> Result<(), CliError> {
        if let Some(file) = &self.json {
            // Results are maps with text as keys, which can always be written.
            write(file, &serde_json::to_string_pretty(results).unwrap_or_default())?;
        }
        if let Some(file) = &self.html {
            write(file, &report::html(results))?;
        }
        print(&report::table(results))
    }
}

// === impl Verdict ===

impl Verdict {
    fn of(results: &Results) -> Self {
        if results.violations > 0 {
            Self::Violated
        } else if !results.has_answers() && !results.interrupted {
            Self::NoTarget
        } else if results.misses_an_objective() {
            Self::Missed
        } else {
            Self::Well
        }
    }
}

// === impl CliError ===

impl CliError {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Target(TargetError::Environment(_)) => Verdict::Unusable,
            Self::Target(_) => Verdict::NoTarget,
            Self::Scenario(_) | Self::Results(_) | Self::Output { .. } | Self::Runtime(_) => Verdict::Unusable,
        }
    }
}

fn compare_files(old: &Path, new: &Path, tolerance: f64) -> Result<Verdict, CliError> {
    let (old, new) = (compare::read(old)?, compare::read(new)?);
    let comparison = compare::compare(&old, &new, tolerance / 100.0);
    print(&comparison.text)?;
    if comparison.worse.is_empty() {
        return Ok(Verdict::Well);
    }
    say(&format!("worse by more than {tolerance} %: {}", comparison.worse.join(", ")));
    Ok(Verdict::Missed)
}

fn make_page(results: &Path, page: &Path) -> Result<Verdict, CliError> {
    write(page, &report::html(&compare::read(results)?))?;
    Ok(Verdict::Well)
}

fn tolerance(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "must be a number".to_owned())?;
    if (0.0..=10_000.0).contains(&percent) { Ok(percent) } else { Err("must be 0 to 10000".to_owned()) }
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text).map_err(|error| CliError::Output { path: path.display().to_string(), error })
}

/// The program's output. Nobody reading it is no fault.
fn print(text: &str) -> Result<(), CliError> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::Output { path: "the output".to_owned(), error })
        }
        _ => Ok(()),
    }
}

/// A line for people on standard error.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

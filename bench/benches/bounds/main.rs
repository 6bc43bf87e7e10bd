//! What the invoke path must reach, measured as ratios in one run: `cargo bench --package toolyard-bench --bench bounds`.
//!
//! The two sides of a ratio are run in turn, sample by sample, so that whatever else the machine does meets both. Options
//! after `--`: `--report` (a bound that is missed is no failure), `--json`, `--quick` (fewer samples), and a word that the
//! names of the parts to run contain: alone, path, start, compute, wait, scale, border, cancel, heap.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

mod alone;
mod border;
mod cancel;
mod heap;
mod path;
mod race;
mod report;
mod scale;
mod scene;
mod wait;

use std::process::ExitCode;

use toolyard_bench::install_recorder;

use report::Report;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What was asked for.
#[derive(Debug, Default)]
struct Options {
    report: bool,
    json: bool,
    quick: bool,
    only: Option<String>,
}

/// A part of the run: its name, and what it measures.
type Part = (&'static str, fn(&mut Report, Rounds));

/// How many samples of each subject are taken.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    quick: bool,
}

/// With a recorder, as in the daemon.
const PARTS: [Part; 8] = [
    ("path", path::whole_path),
    ("start", path::start),
    ("compute", wait::compute),
    ("wait", wait::wait),
    ("scale", scale::scale),
    ("border", border::border),
    ("cancel", cancel::cancel),
    ("heap", heap::heap),
];

fn main() -> ExitCode {
    let options = Options::read();
    let rounds = Rounds { quick: options.quick };
    let mut report = Report::default();
    // Before there is a recorder: engines resolve their handles when they start.
    if options.wants("alone") {
        alone::alone(&mut report, rounds);
    }
    install_recorder();
    for (name, part) in PARTS {
        if options.wants(name) {
            part(&mut report, rounds);
        }
    }
    report.print(options.json);
    if report.is_met() || options.report { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

// === impl Options ===

impl Options {
    fn read() -> Self {
        let mut options = Self::default();
        for argument in std::env::args().skip(1) {
            match argument.as_str() {
                "--report" => options.report = true,
                "--json" => options.json = true,
                "--quick" => options.quick = true,
                // What cargo adds.
                "--bench" => {}
                word => options.only = Some(word.to_owned()),
            }
        }
        options
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| part.contains(only))
    }
}

// === impl Rounds ===

impl Rounds {
    /// This many, or fewer when there is no time.
    fn of(self, rounds: usize) -> usize {
        if self.quick { (rounds / 10).max(3) } else { rounds }
    }
}

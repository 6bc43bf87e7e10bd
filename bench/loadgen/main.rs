//! loadgen: drives the embedded engine, a daemon's HTTP API or an MCP endpoint with a scenario, and measures it.
//!
//! docs/loadgen.md says how it is used.

mod cli;
mod compare;
mod load;
mod objective;
mod progress;
mod recording;
mod report;
mod run;
mod scenario;
mod target;
mod usage;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_silent_about_scripted_panics();
    raise_open_files();
    cli::Cli::parse().run()
}

/// As many connections as the system lets the process have; often far more than it has by itself.
#[cfg(unix)]
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Where it may not be raised, connections that find no room are counted as lost.
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).ok();
}

#[cfg(not(unix))]
fn raise_open_files() {}

/// Tools that panic because the scenario says so are no news; every other panic is.
fn keep_silent_about_scripted_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_scripted = panic.payload().downcast_ref::<&str>().is_some_and(|said| *said == target::SCRIPTED_PANIC);
        if !is_scripted {
            usual(panic);
        }
    }));
}

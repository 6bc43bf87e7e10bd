//! What concerns the process as a whole: its runtime, its panics, and its second life as a launcher of children.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use toolyard_providers::LAUNCH_COMMAND;

use crate::cli::Cli;

/// Fewer workers would let one handler that blocks its thread hold up everybody else.
const MIN_WORKERS: usize = 4;

/// Becomes a child's program when the process was started as a launcher; gives nothing otherwise.
///
/// Comes before everything else: no thread may run yet.
pub fn launch_child() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != LAUNCH_COMMAND) {
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    let Err(error) = toolyard_providers::launch(&arguments) else { return Some(ExitCode::SUCCESS) };
    let program = arguments.get(1).map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
    say(&format!("cannot start `{program}`: {error}"));
    Some(ExitCode::from(127))
}

/// Makes panics say where they happened and nothing else: their messages may hold secrets.
pub fn hide_panic_messages() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic");
    }));
}

/// Runs the command line to its end.
pub fn run_command_line() -> ExitCode {
    let cli = Cli::parse();
    // Before the first client: one that finds no provider of its cryptography cannot be made.
    toolyard_providers::install_crypto_provider();
    let workers = std::thread::available_parallelism().map_or(MIN_WORKERS, |cores| cores.get().max(MIN_WORKERS));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(cli.run()),
        Err(error) => {
            say(&format!("cannot start: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// A line for people on standard error. Nobody reading it is no fault.
pub(crate) fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

/// The program's output on standard output.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

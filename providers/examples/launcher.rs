//! The least that an application needs so that its children are started through it: it answers the hidden subcommand
//! before it does anything else. The tests of this crate start their children through this program.

use std::process::ExitCode;

use toolyard_providers::{LAUNCH_COMMAND, launch};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == LAUNCH_COMMAND) {
        let arguments: Vec<_> = arguments.collect();
        eprintln!("{}", launch(&arguments));
        return ExitCode::from(127);
    }
    eprintln!("the application itself would run here");
    ExitCode::SUCCESS
}

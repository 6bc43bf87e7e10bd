//! The least that an application needs so that its children are started through it: it answers the hidden subcommand
//! before it does anything else. `launcher run COMMAND ARGUMENTS…` starts an MCP server with limits.
//!
//! The tests of this crate start their children through this program.

use std::process::ExitCode;
use std::sync::Arc;

use toolyard::ProviderConnector;
use toolyard_providers::{
    CommandSpec, LAUNCH_COMMAND, McpConfig, McpConnector, McpHub, ProcessLimits, Spawner, launch,
};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == LAUNCH_COMMAND) {
        let arguments: Vec<_> = arguments.collect();
        let Err(error) = launch(&arguments) else { return ExitCode::SUCCESS };
        eprintln!("{error}");
        return ExitCode::from(127);
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(2);
    let command = arguments.next().ok_or("usage: launcher run COMMAND ARGUMENTS…")?;
    let limits = Some(ProcessLimits::plugin());
    let process = CommandSpec { command, args: arguments.collect(), limits, ..CommandSpec::default() };
    let spawner = Arc::new(Spawner::new(Some(std::env::current_exe()?))?);
    let server = McpConnector::new("server", McpConfig::stdio(process), spawner, McpHub::new()).connect().await?;
    for tool in server.list_tools().await? {
        eprintln!("{tool:?}");
    }
    server.close().await;
    Ok(())
}

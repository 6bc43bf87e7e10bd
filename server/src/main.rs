//! The `toolyard` binary: sets up the process and hands over to the command line.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(status) = toolyard_server::launch_child() {
        return status;
    }
    toolyard_server::hide_panic_messages();
    toolyard_server::run_command_line()
}

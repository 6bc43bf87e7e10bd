//! What the whole-system tests share: the environment, the daemon as a process, and a look at the system's processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

pub mod conformance;

mod daemon;
mod environment;
mod processes;

pub use daemon::{Daemon, dispatch, run_cli};
pub use environment::{Environment, everything_server, time_server};
pub use processes::{Process, children_of, wait_until};

//! What the whole-system tests share: the environment, the daemon as a process, a look at the
//! system's processes, and waiting.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

pub mod conformance;

mod daemon;
mod environment;
mod processes;
mod waiting;

pub use daemon::{Daemon, dispatch, run_cli};
pub use environment::{Environment, everything_server, time_server};
pub use processes::{Process, children_of};
pub use waiting::{HANG, eventually, in_time, until, wait_until};

/// Puts a new file in the place of an old one, as editors do: nobody who watches it sees half of it.
///
/// # Panics
/// When it cannot be written.
pub fn replace_file(path: &std::path::Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, path).unwrap();
}

//! The launcher: a small first step of each child that ties its life to its parent's, then becomes the real program.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// The hidden subcommand of a binary under which it calls [`launch`].
pub const LAUNCH_COMMAND: &str = "__launch";

/// Becomes the program in `arguments` (the parent's process id, the program, its arguments). The program is killed when
/// the thread that started it ends, which the spawner's does only with the daemon.
///
/// Returns only when the program cannot be started.
pub fn launch(arguments: &[OsString]) -> io::Error {
    let [parent, program, rest @ ..] = arguments else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no program to launch");
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // A parent that died before the signal was set would never be noticed.
    if getppid().map(Pid::as_raw_nonzero).map(|pid| OsString::from(pid.to_string())) != Some(parent.clone()) {
        return io::Error::other("the parent process is gone");
    }
    Command::new(program).args(rest).exec()
}

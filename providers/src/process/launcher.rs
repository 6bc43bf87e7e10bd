//! The launcher: a small first step of each child that ties its life to its parent's, takes away what it must not have,
//! then becomes the real program.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::identity::Ids;
use super::{ProcessLimits, restrict, warden};

/// The hidden subcommand of a binary under which it calls [`launch`].
pub const LAUNCH_COMMAND: &str = "__launch";

/// What a launcher was started for; its first argument, in JSON.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Errand {
    /// Become the program that the other arguments name.
    Become(LaunchPlan),
    /// Wait for the end of the daemon and end what it leaves in cgroups of this prefix.
    Watch { prefix: String },
}

/// What a process does to itself before it becomes the program.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct LaunchPlan {
    /// The process that started it, and without which it does not run.
    pub(super) parent: u32,
    /// Cgroups that it joins.
    pub(super) cgroups: Vec<PathBuf>,
    /// Limits that it sets for itself.
    pub(super) limits: ProcessLimits,
    /// The user that it becomes.
    pub(super) run_as: Option<Ids>,
    /// Programs that give their user other rights, such as `sudo`, do not do so for it.
    pub(super) no_new_privileges: bool,
}

/// Does what a launcher was started for. `arguments` are those behind [`LAUNCH_COMMAND`]; their form is private to this
/// crate. Comes before everything else in a program, while it has no threads.
///
/// Does not return when the process becomes a program, which is killed when the thread that started it ends; a spawner's
/// thread does so only with the daemon.
///
/// # Errors
/// The program cannot be started, or one of its limits cannot be set.
pub fn launch(arguments: &[OsString]) -> io::Result<()> {
    let [errand, command @ ..] = arguments else {
        return Err(invalid("no errand"));
    };
    let errand = errand.to_str().ok_or_else(|| invalid("the errand is not text"))?;
    match serde_json::from_str(errand)? {
        Errand::Become(plan) => Err(become_program(&plan, command)),
        Errand::Watch { prefix } => warden::watch(&prefix),
    }
}

fn become_program(plan: &LaunchPlan, command: &[OsString]) -> io::Error {
    let [program, arguments @ ..] = command else {
        return invalid("no program to launch");
    };
    if let Err(error) = restrict::restrict(plan) {
        return error;
    }
    let error = Command::new(program).args(arguments).exec();
    match plan.run_as {
        Some(Ids { uid, gid }) => io::Error::new(error.kind(), format!("{error}, as user {uid} of group {gid}")),
        None => error,
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

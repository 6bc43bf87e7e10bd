//! Child processes: started from one thread, in a group of their own, ended with everything they started.

mod child;
mod command;
mod group;
mod launcher;
mod noise;
mod spawner;
mod usage;

pub(crate) use child::ChildProcess;
pub use command::CommandSpec;
pub use launcher::{LAUNCH_COMMAND, launch};
pub use spawner::Spawner;
#[allow(unused_imports, reason = "for plugin runners")]
pub(crate) use usage::ProcessUsage;

#[cfg(all(test, target_os = "linux"))]
mod tests;

//! Child processes: started from one thread, in a group of their own, ended with everything they started.

mod cgroup;
mod child;
mod command;
mod group;
mod hierarchy;
mod identity;
mod launcher;
mod limits;
mod noise;
mod restrict;
mod spawner;
mod usage;
mod warden;

pub(crate) use child::ChildProcess;
pub use command::CommandSpec;
pub use identity::RunAs;
pub use launcher::{LAUNCH_COMMAND, launch};
pub use limits::ProcessLimits;
pub(crate) use noise::Rate;
pub use spawner::Spawner;
pub(crate) use usage::ProcessUsage;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

//! Child processes: started from one thread, in a group of their own, ended with everything they started.

mod child;
mod command;
mod launcher;
mod spawner;
mod tail;

pub(crate) use child::ChildProcess;
pub use command::CommandSpec;
pub use launcher::{LAUNCH_COMMAND, launch};
pub use spawner::Spawner;

//! Group: everything that a child has started, ended as one.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The process group of a child; killed when dropped.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
}

// === impl Group ===

impl Group {
    pub(super) fn of(child: &Child) -> Self {
        Self { leader: child.id().and_then(pid) }
    }

    /// A group that has gone already needs no signal.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            kill_process_group(leader, signal).ok();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn pid(raw: u32) -> Option<Pid> {
    i32::try_from(raw).ok().and_then(Pid::from_raw)
}

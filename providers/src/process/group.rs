//! Group: everything that a child has started, ended as one.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

use super::cgroup::Cgroup;

/// The process group of a child and, where it is confined, its cgroup; killed when dropped.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
    cgroup: Option<Cgroup>,
}

// === impl Group ===

impl Group {
    pub(super) fn new(child: &Child, cgroup: Option<Cgroup>) -> Self {
        Self { leader: child.id().and_then(pid), cgroup }
    }

    /// A group that has gone already needs no signal.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            kill_process_group(leader, signal).ok();
        }
    }

    /// Kills what is left and gives the limits that were hit. Dropping the future kills it too, and waits less.
    pub(super) async fn end(mut self) -> Vec<String> {
        self.signal(Signal::KILL);
        let Some(cgroup) = self.cgroup.take() else { return Vec::new() };
        // Looking for the end of many processes takes its time.
        let ended = tokio::task::spawn_blocking(move || {
            let hit = cgroup.limits_hit();
            cgroup.end();
            hit
        });
        ended.await.unwrap_or_default()
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

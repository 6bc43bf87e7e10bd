//! The spawner: one thread that starts every child.
//!
//! The parent-death signal fires when the thread that started the child ends, so children must not be started from
//! threads that come and go.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;

use tokio::process::Child;
use tokio::sync::oneshot;

use super::CommandSpec;
use super::cgroup::Cgroup;
use super::group::Group;
use super::warden::Warden;

/// Starts that may wait for the thread.
const QUEUE: usize = 64;

/// One thread that starts children. It ends, and with it every child that was launched, when the spawner is dropped.
#[derive(Debug)]
pub struct Spawner {
    requests: mpsc::SyncSender<Request>,
}

struct Request {
    spec: CommandSpec,
    stdin: Stdio,
    runtime: tokio::runtime::Handle,
    reply: oneshot::Sender<io::Result<Started>>,
}

/// A child that runs. Dropping it ends the child and its group.
#[derive(Debug)]
pub(super) struct Started {
    /// Dropped before the child, so that the group is killed while its leader still holds its id.
    pub(super) group: Group,
    pub(super) child: Child,
}

// === impl Spawner ===

impl Spawner {
    /// A spawner whose children are started through `launcher`, a program that answers [`super::LAUNCH_COMMAND`] with
    /// [`super::launch`], so that they die with this process. Without one they only see their standard input close.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(launcher: Option<PathBuf>) -> io::Result<Self> {
        Self::begin(launcher, true)
    }

    /// A spawner on a system without cgroups.
    #[cfg(test)]
    pub(super) fn without_cgroups(launcher: PathBuf) -> io::Result<Self> {
        Self::begin(Some(launcher), false)
    }

    fn begin(launcher: Option<PathBuf>, cgroups: bool) -> io::Result<Self> {
        let (requests, receiver) = mpsc::sync_channel::<Request>(QUEUE);
        std::thread::Builder::new().name("toolyard-spawner".to_owned()).spawn(move || {
            let mut warden = launcher.as_deref().filter(|_| cgroups).map(Warden::new);
            while let Ok(request) = receiver.recv() {
                request.serve(launcher.as_deref(), warden.as_mut());
            }
        })?;
        Ok(Self { requests })
    }

    pub(super) async fn spawn(&self, spec: &CommandSpec, stdin: Stdio) -> io::Result<Started> {
        let (reply, answer) = oneshot::channel();
        let request = Request { spec: spec.clone(), stdin, runtime: tokio::runtime::Handle::current(), reply };
        self.requests.try_send(request).map_err(|_full| io::Error::other("too many processes are being started"))?;
        answer.await.map_err(|_gone| io::Error::other("the spawner has ended"))?
    }
}

// === impl Request ===

impl Request {
    fn serve(self, launcher: Option<&Path>, warden: Option<&mut Warden>) {
        let _context = self.runtime.enter();
        let started = start(&self.spec, self.stdin, launcher, warden);
        // Nobody waiting any more means that the child is dropped, and so killed.
        drop(self.reply.send(started));
    }
}

fn start(
    spec: &CommandSpec,
    stdin: Stdio,
    launcher: Option<&Path>,
    warden: Option<&mut Warden>,
) -> io::Result<Started> {
    let Some(launcher) = launcher else {
        let child = spec.build(stdin)?.spawn()?;
        return Ok(Started { group: Group::new(&child, None), child });
    };
    let limits = spec.limits.unwrap_or_default().effective();
    // Every child, not only those with limits: what it starts must not outlive it.
    let cgroup = warden.map(|warden| warden.cgroup(limits));
    let folders = cgroup.as_ref().map(Cgroup::folders).unwrap_or_default();
    let remaining = cgroup.as_ref().map_or(limits, Cgroup::remaining_limits);
    if remaining.processes.is_some() && spec.run_as.is_none() && rustix::process::geteuid().is_root() {
        tracing::warn!(program = %spec.command, "its processes are not limited: there is no pids cgroup, and it is root");
    }
    let child = spec.build_launched(stdin, launcher, folders, remaining)?.spawn()?;
    Ok(Started { group: Group::new(&child, cgroup), child })
}

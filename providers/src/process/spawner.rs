//! The spawner: one thread that starts every child.
//!
//! The parent-death signal fires when the thread that started the child ends, so children must not be started from
//! threads that come and go.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc;

use tokio::process::Child;
use tokio::sync::oneshot;

use super::CommandSpec;
use super::group::Group;

/// Starts that may wait for the thread.
const QUEUE: usize = 64;

/// One thread that starts children. It ends, and with it every child that was launched, when the spawner is dropped.
#[derive(Debug)]
pub struct Spawner {
    requests: mpsc::SyncSender<Request>,
    launcher: Option<PathBuf>,
}

struct Request {
    spec: CommandSpec,
    stdin: Stdio,
    launcher: Option<PathBuf>,
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
        let (requests, receiver) = mpsc::sync_channel::<Request>(QUEUE);
        std::thread::Builder::new().name("toolyard-spawner".to_owned()).spawn(move || {
            while let Ok(request) = receiver.recv() {
                request.serve();
            }
        })?;
        Ok(Self { requests, launcher })
    }

    pub(super) async fn spawn(&self, spec: &CommandSpec, stdin: Stdio) -> io::Result<Started> {
        let (reply, answer) = oneshot::channel();
        let request = Request {
            spec: spec.clone(),
            stdin,
            launcher: self.launcher.clone(),
            runtime: tokio::runtime::Handle::current(),
            reply,
        };
        self.requests.try_send(request).map_err(|_full| io::Error::other("too many processes are being started"))?;
        answer.await.map_err(|_gone| io::Error::other("the spawner has ended"))?
    }
}

// === impl Request ===

impl Request {
    fn serve(self) {
        let _context = self.runtime.enter();
        let spawned = self.spec.build(self.launcher.as_ref(), self.stdin).spawn();
        let started = spawned.map(|child| Started { group: Group::of(&child), child });
        // Nobody waiting any more means that the child is dropped, and so killed.
        drop(self.reply.send(started));
    }
}

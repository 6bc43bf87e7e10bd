//! The spawner: one thread that starts every child.
//!
//! The parent-death signal fires when the thread that started the child ends, so children must not be started from
//! threads that come and go.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc;

use tokio::process::Child;
use tokio::sync::oneshot;

use super::CommandSpec;

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
    launcher: Option<PathBuf>,
    runtime: tokio::runtime::Handle,
    reply: oneshot::Sender<io::Result<Child>>,
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
            while let Ok(Request { spec, launcher, runtime, reply }) = receiver.recv() {
                let _context = runtime.enter();
                // Nobody waiting any more means that the child is dropped, and so killed.
                drop(reply.send(spec.build(launcher.as_ref()).spawn()));
            }
        })?;
        Ok(Self { requests, launcher })
    }

    pub(super) async fn spawn(&self, spec: &CommandSpec) -> io::Result<Child> {
        let (reply, answer) = oneshot::channel();
        let request = Request {
            spec: spec.clone(),
            launcher: self.launcher.clone(),
            runtime: tokio::runtime::Handle::current(),
            reply,
        };
        self.requests.try_send(request).map_err(|_full| io::Error::other("too many processes are being started"))?;
        answer.await.map_err(|_gone| io::Error::other("the spawner has ended"))?
    }
}

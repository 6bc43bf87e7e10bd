//! ChildProcess: a running child, its pipes, and its end.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::tail::Tail;
use super::{CommandSpec, Spawner};

/// Time for a child to end once its standard input is closed, and again once it was asked to by a signal.
const GRACE: Duration = Duration::from_secs(2);
/// Time for the rest of a dead child's standard error to be read.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A running child. Dropping it ends the child and everything in its process group.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    stop: CancellationToken,
    force: CancellationToken,
    ended: watch::Receiver<Option<String>>,
}

/// The pipes of a child.
pub(crate) type Pipes = (ChildStdout, ChildStdin);

// === impl ChildProcess ===

impl ChildProcess {
    pub(crate) async fn start(spawner: &Spawner, spec: &CommandSpec) -> io::Result<(Self, Pipes)> {
        let mut child = spawner.spawn(spec).await?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let (stop, force) = (CancellationToken::new(), CancellationToken::new());
        let (report, ended) = watch::channel(None);
        let tail = Tail::default();
        let drained = tokio::spawn(tail.clone().drain(stderr));
        let owner = Owner { group: Group(child.id().and_then(pid)), child, stop: stop.clone(), force: force.clone() };
        let spec = spec.clone();
        tokio::spawn(async move {
            let status = owner.run().await;
            drop(tokio::time::timeout(LAST_WORDS, drained).await);
            report.send_replace(Some(spec.redact(&describe(status, &tail.text()))));
        });
        Ok((Self { stop, force, ended }, (stdout, stdin)))
    }

    /// Waits for the end, and says how it came.
    pub(crate) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let said = ended.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        said.unwrap_or_else(|| "its process ended".to_owned())
    }

    /// Ends the child, first by asking, then by force. Its pipes should be closed before.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.ended().await;
    }

    /// Ends the child at once, unless it is being asked to end already.
    pub(crate) async fn kill(&self) {
        self.force.cancel();
        self.ended().await;
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Waits for a child and ends it when told to.
struct Owner {
    /// Dropped before the child, so that the group is killed while its leader still holds its id.
    group: Group,
    child: Child,
    stop: CancellationToken,
    force: CancellationToken,
}

/// The process group of a child; killed when dropped.
struct Group(Option<Pid>);

// === impl Owner ===

impl Owner {
    async fn run(mut self) -> io::Result<ExitStatus> {
        tokio::select! {
            status = self.child.wait() => return status,
            () = self.force.cancelled() => return self.kill().await,
            () = self.stop.cancelled() => {}
        }
        for signal in [None, Some(Signal::TERM)] {
            if let Some(signal) = signal {
                self.group.signal(signal);
            }
            if let Ok(status) = tokio::time::timeout(GRACE, self.child.wait()).await {
                return status;
            }
        }
        self.kill().await
    }

    async fn kill(&mut self) -> io::Result<ExitStatus> {
        self.group.signal(Signal::KILL);
        self.child.wait().await
    }
}

// === impl Group ===

impl Group {
    /// A group that has gone already needs no signal.
    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
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

fn describe(status: io::Result<ExitStatus>, tail: &str) -> String {
    let how = match status {
        Ok(status) => format!("its process ended with {status}"),
        Err(error) => format!("its process was lost: {error}"),
    };
    if tail.is_empty() { how } else { format!("{how}; it last wrote: {tail}") }
}

//! ChildProcess: a running child, its pipes, and its end.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::group::Group;
use super::noise::Noise;
use super::spawner::Started;
use super::usage::ProcessUsage;
use super::{CommandSpec, Spawner};

/// Time for a child to end once its standard input is closed, and again once it was asked to by a signal.
const GRACE: Duration = Duration::from_secs(2);
/// Time for the rest of what a dead child wrote to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running child. Dropping it ends the child and everything in its process group, and,
/// where it has limits, everything that it has started.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    pid: Option<u32>,
    noise: Noise,
    orders: Orders,
    ended: watch::Receiver<Option<String>>,
}

/// The pipes of a child.
pub(crate) type Pipes = (ChildStdout, ChildStdin);

/// What a child's owner may be told.
#[derive(Clone, Debug, Default)]
struct Orders {
    stop: CancellationToken,
    kill: CancellationToken,
}

// === impl ChildProcess ===

impl ChildProcess {
    /// Starts a child that speaks over its standard input and output. What it writes to its standard error is noise.
    ///
    /// # Errors
    /// It cannot be started. Through a launcher, a program that does not exist shows only by its end.
    pub(crate) async fn start(spawner: &Spawner, spec: &CommandSpec) -> io::Result<(Self, Pipes)> {
        let mut started = spawner.spawn(spec, Stdio::piped()).await?;
        let (Some(stdin), Some(stdout)) = (started.child.stdin.take(), started.child.stdout.take()) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        Ok((Self::own(started, spec), (stdout, stdin)))
    }

    /// Starts a child whose standard input is a socket, for both directions. What it writes to its standard output and
    /// to its standard error is noise.
    ///
    /// # Errors
    /// As for [`ChildProcess::start`], and no socket can be made.
    pub(crate) async fn start_with_socket(spawner: &Spawner, spec: &CommandSpec) -> io::Result<(Self, UnixStream)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let ours = UnixStream::from_std(ours)?;
        let started = spawner.spawn(spec, Stdio::from(OwnedFd::from(theirs))).await?;
        Ok((Self::own(started, spec), ours))
    }

    /// Its process id, which is its own only until it has ended.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Where to tell what it says that is no message: it goes where its standard error goes.
    pub(crate) fn noise(&self) -> Noise {
        self.noise.clone()
    }

    /// What it takes of the machine now. Nothing once it has ended.
    pub(crate) fn usage(&self) -> Option<ProcessUsage> {
        let has_ended = self.ended.borrow().is_some();
        if has_ended { None } else { ProcessUsage::of(self.pid?) }
    }

    /// Waits for the end, and says how it came. May be dropped and called again.
    pub(crate) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let said = ended.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        said.unwrap_or_else(|| "its process ended".to_owned())
    }

    /// Whether it has come to its end, though that may not have been told yet.
    pub(crate) fn has_died(&self) -> bool {
        // Behind the name in parentheses, which may hold anything, comes the state: Z is dead and not yet buried.
        let state = |stat: String| stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        let stat = self.pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
        self.ended.borrow().is_some() || matches!(stat.and_then(state), None | Some('Z' | 'X'))
    }

    /// Ends the child, first by asking, then by force, and waits for it. Its pipes should be closed before. The child
    /// ends also when the future is dropped.
    pub(crate) async fn stop(&self) {
        self.orders.stop.cancel();
        self.ended().await;
    }

    /// Ends the child and everything that it has started at once, without asking. [`ChildProcess::ended`] tells when
    /// they are gone.
    pub(crate) fn kill_now(&self) {
        self.orders.kill.cancel();
    }

    /// Ends it and everything in its group without asking, and waits until that is done.
    pub(crate) async fn kill(&self) {
        self.kill_now();
        self.ended().await;
    }

    fn own(mut started: Started, spec: &CommandSpec) -> Self {
        let spec = Arc::new(spec.clone());
        let pid = started.child.id();
        let noise = Noise::new(spec, pid);
        let mut drains = JoinSet::new();
        if let Some(stderr) = started.child.stderr.take() {
            drains.spawn(noise.clone().drain(stderr));
        }
        if let Some(stdout) = started.child.stdout.take() {
            drains.spawn(noise.clone().drain(stdout));
        }
        let (orders, heard) = (Orders::default(), noise.clone());
        let (report, ended) = watch::channel(None);
        let owner = Owner { group: started.group, child: started.child, orders: orders.clone() };
        tokio::spawn(async move {
            let (status, limits_hit) = owner.run().await;
            drop(tokio::time::timeout(LAST_WORDS, async { while drains.join_next().await.is_some() {} }).await);
            report.send_replace(Some(describe(status, &limits_hit, &noise.last_words())));
        });
        Self { pid, noise: heard, orders, ended }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.orders.stop.cancel();
    }
}

/// Waits for a child and ends it when told to.
struct Owner {
    /// Dropped before the child, so that the group is killed while its leader still holds its id.
    group: Group,
    child: Child,
    orders: Orders,
}

// === impl Owner ===

impl Owner {
    /// Waits for the end of the child and of everything that it has started. Gives the limits that were hit, too.
    async fn run(mut self) -> (io::Result<ExitStatus>, Vec<String>) {
        let kill = self.orders.kill.clone();
        let ended = tokio::select! {
            biased;
            () = kill.cancelled() => None,
            ended = self.end_in_peace() => ended,
        };
        let status = match ended {
            Some(status) => status,
            None => {
                self.group.signal(Signal::KILL);
                self.child.wait().await
            }
        };
        (status, self.group.end().await)
    }

    /// The child's end, by itself or by being asked to. Nothing when it did not listen.
    async fn end_in_peace(&mut self) -> Option<io::Result<ExitStatus>> {
        tokio::select! {
            status = self.child.wait() => return Some(status),
            () = self.orders.stop.cancelled() => {}
        }
        for signal in [None, Some(Signal::TERM)] {
            if let Some(signal) = signal {
                self.group.signal(signal);
            }
            if let Ok(status) = tokio::time::timeout(GRACE, self.child.wait()).await {
                return Some(status);
            }
        }
        None
    }
}

fn describe(status: io::Result<ExitStatus>, limits_hit: &[String], last_words: &str) -> String {
    let mut said = match status {
        Ok(status) => format!("its process ended with {status}"),
        Err(error) => format!("its process was lost: {error}"),
    };
    for hit in limits_hit {
        said = format!("{said}; {hit}");
    }
    if last_words.is_empty() { said } else { format!("{said}; it last wrote: {last_words}") }
}

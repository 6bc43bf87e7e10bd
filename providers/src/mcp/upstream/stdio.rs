//! StdioTransport: a server that is a child process, over its standard input and output.

mod lines;
mod queue;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::unix::pipe;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{ErrorCode, ToolFailure};

use super::connection::reply_id_of_ends;
use super::failure::too_large;
use super::transport::{Failed, Inbox, Opened, Outgoing, OutgoingKind, SendFailure, Transport};
use crate::process::{ChildProcess, CommandSpec, Spawner};

use lines::{Line, Lines};
use queue::{Cancelled, Queue};

/// Bytes that are read at once.
const READ: usize = 64 << 10;
/// What some programs begin their output with.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Time for the end of a child to be known once its pipes are closed: it says more than they do.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// The same for a child that is known to be dead, so that its end is sure to be told.
const OBITUARY: Duration = Duration::from_secs(5);

/// The pipes of a child. Dropping it ends the child.
#[derive(Debug)]
pub(super) struct StdioTransport {
    child: ChildProcess,
    shared: Arc<Shared>,
    tasks: Mutex<Vec<AbortOnDropHandle<()>>>,
    /// How it came to its end once its pipes were closed: the same for all that ask.
    end: OnceCell<String>,
}

#[derive(Debug)]
struct Shared {
    queue: Queue,
    /// Cancelled when a pipe is closed.
    gone: CancellationToken,
    why: Mutex<Option<String>>,
}

// === impl StdioTransport ===

impl StdioTransport {
    /// Starts the child.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) async fn start(
        spawner: &Spawner,
        command: &CommandSpec,
        max_message_bytes: usize,
        inbox: Arc<dyn Inbox>,
    ) -> Result<Self, ToolFailure> {
        let (child, (stdout, stdin)) = ChildProcess::start(spawner, command)
            .await
            .map_err(|error| ToolFailure::not_sent(ErrorCode::ProviderDown, not_started(command, &error)))?;
        let pipe = stdin.into_owned_fd().and_then(pipe::Sender::from_owned_fd).map_err(|error| {
            ToolFailure::not_sent(ErrorCode::ProviderDown, format!("its standard input cannot be used: {error}"))
        })?;
        let pipe = Arc::new(pipe);
        let shared = Arc::new(Shared {
            queue: Queue::new(Arc::clone(&pipe)),
            gone: CancellationToken::new(),
            why: Mutex::default(),
        });
        let noise = child.noise();
        let heard = move |line: &[u8]| noise.hear(line);
        let tasks = vec![
            AbortOnDropHandle::new(tokio::spawn(write(Arc::clone(&shared), pipe))),
            AbortOnDropHandle::new(tokio::spawn(read(Arc::clone(&shared), stdout, max_message_bytes, inbox, heard))),
        ];
        Ok(Self { child, shared, tasks: Mutex::new(tasks), end: OnceCell::new() })
    }

    /// A pipe may be closed before the system tells of the child's end, however busy it is; a child may also close its
    /// pipes and live on.
    async fn learn_end(&self) -> String {
        if let Ok(end) = tokio::time::timeout(LAST_WORDS, self.child.ended()).await {
            return end;
        }
        if self.child.has_died()
            && let Ok(end) = tokio::time::timeout(OBITUARY, self.child.ended()).await
        {
            return end;
        }
        let why = self.shared.why.lock().unwrap_or_else(PoisonError::into_inner).clone();
        why.unwrap_or_else(|| "its connection was closed".to_owned())
    }
}

impl Transport for StdioTransport {
    fn send(&self, message: Outgoing) -> BoxFuture<'_, Result<(), SendFailure>> {
        let id = match message.kind {
            OutgoingKind::Request { id, .. } => Some(id),
            OutgoingKind::Other { .. } => None,
        };
        if let Some(text) = self.shared.queue.push_now(id, message.text) {
            return Box::pin(async move {
                tokio::select! {
                    () = self.shared.queue.push(id, text) => Ok(()),
                    () = self.shared.gone.cancelled() => {
                        let message = self.ended().await;
                        Err(SendFailure::Failed(ToolFailure::not_sent(ErrorCode::ProviderCrashed, message)))
                    }
                }
            });
        }
        Box::pin(std::future::ready(Ok(())))
    }

    /// A request that still waits in the queue is taken out of it: its server never hears of it.
    fn cancel(&self, id: u64, reason: &str) {
        match self.shared.queue.take_out(id) {
            Cancelled::Unsent => {}
            Cancelled::Sent => self.shared.queue.push_unbounded(cancelled(id, reason)),
        }
    }

    fn opened(&self, _opened: &Opened) {}

    fn ended(&self) -> BoxFuture<'_, String> {
        Box::pin(async {
            tokio::select! {
                biased;
                reason = self.child.ended() => reason,
                () = self.shared.gone.cancelled() => self.end.get_or_init(|| self.learn_end()).await.clone(),
            }
        })
    }

    /// Closes the child's standard input first, which asks it to end.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.shared.end("it was closed");
            self.shared.queue.close();
            self.tasks.lock().unwrap_or_else(PoisonError::into_inner).clear();
            self.child.stop().await;
        })
    }
}

/// The system's error says what is wrong, and not with what.
fn not_started(command: &CommandSpec, error: &std::io::Error) -> String {
    let program = &command.command;
    match &command.cwd {
        Some(folder) if !folder.is_dir() => {
            format!("`{program}` cannot be started in `{}`: there is no such folder", folder.display())
        }
        _ => format!("`{program}` cannot be started: {error}"),
    }
}

// === impl Shared ===

impl Shared {
    fn end(&self, why: impl Into<String>) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.into());
        self.gone.cancel();
    }
}

async fn write(shared: Arc<Shared>, pipe: Arc<pipe::Sender>) {
    let error = shared.queue.write(&pipe).await;
    shared.end(format!("it takes nothing on its standard input: {error}"));
}

/// Reads lines until the pipe is closed, whatever they are.
async fn read(
    shared: Arc<Shared>,
    mut pipe: impl AsyncRead + Unpin,
    max_message_bytes: usize,
    inbox: Arc<dyn Inbox>,
    heard: impl Fn(&[u8]),
) {
    let mut lines = Lines::new(max_message_bytes);
    let mut buffer = vec![0; READ];
    loop {
        let count = match pipe.read(&mut buffer).await {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => return shared.end(format!("its standard output broke: {error}")),
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        lines.push(bytes, |line| take(line, max_message_bytes, &*inbox, &heard));
    }
    // A last line may lack its end.
    lines.finish(|line| take(line, max_message_bytes, &*inbox, &heard));
    shared.end("it closed its standard output");
}

fn take(line: Line<'_>, max_message_bytes: usize, inbox: &dyn Inbox, heard: &impl Fn(&[u8])) {
    match line {
        Line::Whole(line) => match line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii().first() {
            Some(b'{' | b'[') => inbox.receive(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line), None),
            Some(_) => {
                heard(line);
                inbox.noise(line.len());
            }
            None => {}
        },
        Line::TooLong { head, tail, bytes } => match reply_id_of_ends(head, tail) {
            Some(id) => {
                inbox.fail(id, Failed::Failed(too_large(max_message_bytes)));
            }
            None => inbox.noise(bytes),
        },
    }
}

fn cancelled(id: u64, reason: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"{reason}"}}}}"#
    )
}

#[cfg(test)]
mod tests;

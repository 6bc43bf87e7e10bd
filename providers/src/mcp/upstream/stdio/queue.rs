//! Queue: lines on their way to the server, bounded in bytes. What nobody waits for any more can be taken out.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::unix::pipe;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use toolyard::JsonText;

/// Bytes that may wait. A longer line waits until it is alone.
const ROOM: usize = 4 << 20;
/// What a line counts at least.
const LEAST: usize = 256;
/// Bytes that go out together, and the line that reaches them.
const BATCH: usize = 64 << 10;

/// Lines in order. Where none waits, a line is written at once by whoever sends it, which saves it a detour.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    room: Arc<Semaphore>,
    filled: Notify,
}

/// What became of a request that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cancelled {
    /// It was still queued, and is not any more.
    Unsent,
    /// It has gone out.
    Sent,
}

#[derive(Debug)]
struct State {
    /// Gone once the queue was closed.
    pipe: Option<Arc<pipe::Sender>>,
    lines: VecDeque<QueuedLine>,
    /// The writer has lines of its own that come first.
    is_writing: bool,
}

#[derive(Debug)]
struct QueuedLine {
    id: Option<u64>,
    text: Text,
    _room: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
enum Text {
    Json(JsonText),
    Own(String),
    /// The end of a line of which the pipe took the beginning, with its line break.
    Rest(Vec<u8>),
}

// === impl Queue ===

impl Queue {
    pub(super) fn new(pipe: Arc<pipe::Sender>) -> Self {
        let state = State { pipe: Some(pipe), lines: VecDeque::new(), is_writing: false };
        Self { state: Mutex::new(state), room: Arc::new(Semaphore::new(ROOM)), filled: Notify::new() }
    }

    /// Writes a line, or queues it if there is room; else gives it back.
    pub(super) fn push_now(&self, id: Option<u64>, text: JsonText) -> Option<JsonText> {
        if self.write_now(text.as_str()) {
            return None;
        }
        match Arc::clone(&self.room).try_acquire_many_owned(cost(&text)) {
            Ok(room) => {
                self.add(QueuedLine { id, text: Text::Json(text), _room: Some(room) });
                None
            }
            Err(_full) => Some(text),
        }
    }

    /// Queues a line when there is room; first come, first served.
    pub(super) async fn push(&self, id: Option<u64>, text: JsonText) {
        let room = Arc::clone(&self.room).acquire_many_owned(cost(&text)).await.ok();
        self.add(QueuedLine { id, text: Text::Json(text), _room: room });
    }

    /// Queues a line whether there is room or not: for cancellations, of which there are never more than requests.
    pub(super) fn push_unbounded(&self, text: String) {
        self.add(QueuedLine { id: None, text: Text::Own(text), _room: None });
    }

    /// Lets go of the pipe, which ends what the server hears once the writer is gone, too.
    pub(super) fn close(&self) {
        self.state().pipe = None;
    }

    /// Takes a request out that has not gone out yet.
    pub(super) fn take_out(&self, id: u64) -> Cancelled {
        let taken = {
            let State { lines, .. } = &mut *self.state();
            let place = lines.iter().position(|line| line.id == Some(id));
            place.and_then(|place| lines.remove(place))
        };
        if taken.is_some() { Cancelled::Unsent } else { Cancelled::Sent }
    }

    /// Writes what is queued until the pipe is closed, and says why it was. Lines that are there together go out together.
    pub(super) async fn write(&self, pipe: &pipe::Sender) -> io::Error {
        let mut bytes = Vec::new();
        loop {
            self.take(&mut bytes).await;
            if let Err(error) = write_all(pipe, &bytes).await {
                return error;
            }
            bytes.clear();
            bytes.shrink_to(1 << 20);
        }
    }

    /// Writes a line at once, where nothing waits before it; or its beginning, and queues the rest. Says whether it did.
    /// What goes wrong goes wrong for the writer, too.
    fn write_now(&self, line: &str) -> bool {
        let mut state = self.state();
        if state.is_writing || !state.lines.is_empty() {
            return false;
        }
        let whole = [IoSlice::new(line.as_bytes()), IoSlice::new(b"\n")];
        let Some(Ok(count @ 1..)) = state.pipe.as_ref().map(|pipe| pipe.try_write_vectored(&whole)) else {
            return false;
        };
        if count <= line.len() {
            let mut rest = line.as_bytes().get(count..).unwrap_or_default().to_vec();
            rest.push(b'\n');
            state.lines.push_back(QueuedLine { id: None, text: Text::Rest(rest), _room: None });
            self.filled.notify_one();
        }
        true
    }

    /// Waits for lines and appends as many as go out together.
    async fn take(&self, bytes: &mut Vec<u8>) {
        loop {
            if self.take_now(bytes) {
                return;
            }
            self.filled.notified().await;
        }
    }

    fn take_now(&self, bytes: &mut Vec<u8>) -> bool {
        let mut state = self.state();
        while bytes.len() < BATCH
            && let Some(line) = state.lines.pop_front()
        {
            line.text.append_to(bytes);
        }
        state.is_writing = !bytes.is_empty();
        state.is_writing
    }

    fn add(&self, line: QueuedLine) {
        self.state().lines.push_back(line);
        self.filled.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write_all(pipe: &pipe::Sender, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        pipe.writable().await?;
        match pipe.try_write(bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn cost(text: &JsonText) -> u32 {
    u32::try_from(text.as_str().len().clamp(LEAST, ROOM)).unwrap_or(u32::MAX)
}

// === impl Text ===

impl Text {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        let (line, end): (&[u8], &[u8]) = match self {
            Self::Json(text) => (text.as_str().as_bytes(), b"\n"),
            Self::Own(text) => (text.as_bytes(), b"\n"),
            Self::Rest(rest) => (rest, b""),
        };
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    /// A queue whose pipe takes so many bytes until it is read.
    async fn queue() -> (Queue, Arc<pipe::Sender>, pipe::Receiver) {
        let (sender, receiver) = pipe::pipe().unwrap();
        sender.writable().await.unwrap();
        let sender = Arc::new(sender);
        (Queue::new(Arc::clone(&sender)), sender, receiver)
    }

    /// Nobody reads, and the pipe is full.
    async fn full_queue() -> (Queue, pipe::Receiver) {
        let (queue, pipe, receiver) = queue().await;
        while pipe.try_write(&[b'.'; 4096]).is_ok() {}
        (queue, receiver)
    }

    fn line(bytes: usize) -> JsonText {
        JsonText::string(&"x".repeat(bytes - 2))
    }

    #[tokio::test]
    async fn lines_come_out_in_order_however_they_went_in() {
        let (queue, pipe, mut receiver) = queue().await;
        let large = line(300_000);
        assert!(queue.push_now(Some(1), JsonText::null()).is_none());
        assert!(queue.state().lines.is_empty(), "it was written at once");
        assert!(queue.push_now(Some(2), large.clone()).is_none());
        queue.push(None, JsonText::boolean(true)).await;
        queue.push_unbounded("7".to_owned());
        assert_eq!(queue.take_out(2), Cancelled::Sent, "its beginning has gone out");
        let mut said = String::new();
        tokio::select! {
            error = queue.write(&pipe) => panic!("{error}"),
            () = async {
                let mut buffer = vec![0; 10_000];
                while !said.ends_with("7\n") {
                    let count = receiver.read(&mut buffer).await.unwrap();
                    said.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
                }
            } => {}
        }
        assert_eq!(said, format!("null\n{large}\ntrue\n7\n"));
        assert!(queue.push_now(None, JsonText::null()).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_holds_its_callers_up_until_somebody_gives_up() {
        let (queue, _receiver) = full_queue().await;
        queue.push(Some(1), line(ROOM)).await;
        assert!(queue.push_now(Some(2), line(300)).is_some());
        let push = queue.push(Some(3), line(300));
        tokio::pin!(push);
        assert!(futures::poll!(&mut push).is_pending());
        assert_eq!(queue.take_out(1), Cancelled::Unsent);
        push.await;
        assert_eq!(queue.state().lines.len(), 1, "what was given up is not kept");
        assert_eq!(queue.take_out(1), Cancelled::Sent);
    }

    #[tokio::test]
    async fn a_line_larger_than_the_queue_waits_until_it_is_alone() {
        let (queue, _receiver) = full_queue().await;
        queue.push(None, line(ROOM + 5)).await;
        assert!(queue.push_now(None, line(2)).is_some());
        let mut bytes = Vec::new();
        queue.take(&mut bytes).await;
        assert_eq!(bytes.len(), ROOM + 6);
        assert!(queue.push_now(None, line(2)).is_none());
    }

    #[tokio::test]
    async fn a_pipe_that_nobody_reads_any_more_is_found_broken() {
        let (queue, pipe, receiver) = queue().await;
        drop(receiver);
        assert!(queue.push_now(None, JsonText::null()).is_none(), "it is queued");
        assert_eq!(queue.write(&pipe).await.kind(), io::ErrorKind::BrokenPipe);
    }
}

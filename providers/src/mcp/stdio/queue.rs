//! Queue: lines on their way to the server, bounded in bytes. What nobody waits for any more can be taken out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use toolyard::JsonText;

/// Bytes that may wait. A longer line waits until it is alone.
const ROOM: usize = 4 << 20;
/// What a line counts at least.
const LEAST: usize = 256;
/// Bytes that go out together, and the line that reaches them.
const BATCH: usize = 64 << 10;

/// Lines in order.
#[derive(Debug)]
pub(super) struct Queue {
    lines: Mutex<VecDeque<QueuedLine>>,
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
struct QueuedLine {
    id: Option<u64>,
    text: Text,
    _room: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
enum Text {
    Json(JsonText),
    Own(String),
}

// === impl Queue ===

impl Queue {
    pub(super) fn new() -> Self {
        Self { lines: Mutex::default(), room: Arc::new(Semaphore::new(ROOM)), filled: Notify::new() }
    }

    /// Queues a line if there is room; else gives it back.
    pub(super) fn push_now(&self, id: Option<u64>, text: JsonText) -> Option<JsonText> {
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

    /// Takes a request out that has not gone out yet.
    pub(super) fn take_out(&self, id: u64) -> Cancelled {
        let taken = {
            let mut lines = self.lines();
            let place = lines.iter().position(|line| line.id == Some(id));
            place.and_then(|place| lines.remove(place))
        };
        if taken.is_some() { Cancelled::Unsent } else { Cancelled::Sent }
    }

    /// Waits for lines and appends as many as go out together. May be dropped before it is ready, which takes nothing.
    pub(super) async fn take(&self, bytes: &mut Vec<u8>) {
        loop {
            if self.take_now(bytes) {
                return;
            }
            self.filled.notified().await;
        }
    }

    fn take_now(&self, bytes: &mut Vec<u8>) -> bool {
        let mut lines = self.lines();
        while bytes.len() < BATCH
            && let Some(line) = lines.pop_front()
        {
            bytes.extend_from_slice(line.text.as_str().as_bytes());
            bytes.push(b'\n');
        }
        !bytes.is_empty()
    }

    fn add(&self, line: QueuedLine) {
        self.lines().push_back(line);
        self.filled.notify_one();
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<QueuedLine>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(text: &JsonText) -> u32 {
    u32::try_from(text.as_str().len().clamp(LEAST, ROOM)).unwrap_or(u32::MAX)
}

// === impl Text ===

impl Text {
    fn as_str(&self) -> &str {
        match self {
            Self::Json(text) => text.as_str(),
            Self::Own(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: usize) -> JsonText {
        JsonText::string(&"x".repeat(bytes - 2))
    }

    #[tokio::test]
    async fn lines_come_out_in_order_and_together() {
        let queue = Queue::new();
        assert!(queue.push_now(Some(1), JsonText::null()).is_none());
        queue.push(None, JsonText::boolean(true)).await;
        queue.push_unbounded("7".to_owned());
        let mut bytes = Vec::new();
        queue.take(&mut bytes).await;
        assert_eq!(bytes, b"null\ntrue\n7\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_holds_its_callers_up_until_somebody_gives_up() {
        let queue = Queue::new();
        queue.push(Some(1), line(ROOM)).await;
        assert!(queue.push_now(Some(2), line(300)).is_some());
        let push = queue.push(Some(3), line(300));
        tokio::pin!(push);
        assert!(futures::poll!(&mut push).is_pending());
        assert_eq!(queue.take_out(1), Cancelled::Unsent);
        push.await;
        assert_eq!(queue.lines().len(), 1, "what was given up is not kept");
        assert_eq!(queue.take_out(1), Cancelled::Sent);
    }

    #[tokio::test]
    async fn a_line_larger_than_the_queue_goes_alone() {
        let queue = Queue::new();
        queue.push(None, line(ROOM + 5)).await;
        assert!(queue.push_now(None, line(2)).is_some());
        let mut bytes = Vec::new();
        queue.take(&mut bytes).await;
        assert_eq!(bytes.len(), ROOM + 6);
        assert!(queue.push_now(None, line(2)).is_none());
    }
}

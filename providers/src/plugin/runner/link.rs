//! Link: the writing half of the connection to a runner, and the state that both halves share.

use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use toolyard::CallHold;

use super::calls::Calls;
use crate::plugin::wire;

/// Frames that may wait for the writer.
const QUEUE: usize = 1024;
/// Frames that go out together at most.
const BATCH: usize = 64;

/// What calls need of the connection.
#[derive(Debug)]
pub(super) struct Link {
    outbox: mpsc::Sender<Vec<u8>>,
    pub(super) calls: Calls,
    /// Calls whose cancellation the runner is still to be told. Every id in it was a call's, so it is bounded.
    cancels: Mutex<Vec<u64>>,
    cancelled: Notify,
    /// Cancelled when the connection has ended.
    gone: CancellationToken,
    why: Mutex<Option<String>>,
}

/// What the writer reads from.
pub(super) struct Outbox(mpsc::Receiver<Vec<u8>>);

// === impl Link ===

impl Link {
    pub(super) fn new() -> (Self, Outbox) {
        let (outbox, frames) = mpsc::channel(QUEUE);
        let link = Self {
            outbox,
            calls: Calls::default(),
            cancels: Mutex::default(),
            cancelled: Notify::new(),
            gone: CancellationToken::new(),
            why: Mutex::default(),
        };
        (link, Outbox(frames))
    }

    /// Queues a frame if there is room: a runner that reads nothing must not hold its callers up.
    pub(super) fn try_send(&self, frame: Vec<u8>) -> bool {
        self.outbox.try_send(frame).is_ok()
    }

    /// Queues a frame when there is room.
    pub(super) async fn send(&self, frame: Vec<u8>) {
        tokio::select! {
            sent = self.outbox.send(frame) => drop(sent),
            () = self.gone.cancelled() => {}
        }
    }

    /// Gives a call up and has the runner told. Never waits.
    pub(super) fn cancel(&self, id: u64, hold: Option<CallHold>) {
        if self.calls.give_up(id, hold) {
            self.cancels.lock().unwrap_or_else(PoisonError::into_inner).push(id);
            self.cancelled.notify_one();
        }
    }

    /// The connection has ended; the first reason counts.
    pub(super) fn end(&self, why: impl Into<String>) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.into());
        self.calls.close();
        self.gone.cancel();
    }

    /// Waits for the end and says why it came.
    pub(super) async fn ended(&self) -> String {
        self.gone.cancelled().await;
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Writes what is queued until the connection ends. Frames that are there together go out together.
    pub(super) async fn write(&self, Outbox(mut frames): Outbox, mut socket: OwnedWriteHalf) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut bytes = Vec::new();
        loop {
            tokio::select! {
                biased;
                () = self.gone.cancelled() => return,
                () = self.cancelled.notified() => {}
                count = frames.recv_many(&mut batch, BATCH) => if count == 0 { return },
            }
            let cancels = self.take_cancels();
            if !cancels.is_empty() {
                // A cancellation must not overtake its call, which was queued before it.
                batch.extend((0..QUEUE).map_while(|_| frames.try_recv().ok()));
                batch.extend(cancels.into_iter().map(wire::cancel));
            }
            for frame in batch.drain(..) {
                append(&mut bytes, &frame);
            }
            let written = tokio::select! {
                () = self.gone.cancelled() => return,
                written = socket.write_all(&bytes) => written,
            };
            if let Err(error) = written {
                return self.end(describe(&error));
            }
            bytes.clear();
            bytes.shrink_to(1 << 20);
        }
    }

    fn take_cancels(&self) -> Vec<u64> {
        std::mem::take(&mut *self.cancels.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn append(bytes: &mut Vec<u8>, frame: &[u8]) {
    // A frame's length was checked before it was queued.
    bytes.extend_from_slice(&u32::try_from(frame.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend_from_slice(frame);
}

pub(super) fn describe(error: &io::Error) -> String {
    format!("its connection broke: {error}")
}

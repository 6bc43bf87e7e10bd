//! What is told of a batch while it runs: each call's start, progress and end, then the end of the batch.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::mpsc;

use crate::approval::ApprovalNotice;
use crate::call::{CallId, ToolCall};
use crate::result::CallStatus;

/// Progress reports that may wait for their reader, beside the events that are never dropped.
const PROGRESS_ROOM: usize = 64;

/// Something that happened in a batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BatchEvent {
    /// A call was admitted and is started.
    CallStarted {
        /// Place in the batch.
        index: usize,
        /// Id of the call.
        call_id: CallId,
    },
    /// A person has to agree to a call. It is started when they do, or settles after this.
    ApprovalRequired {
        /// Place in the batch.
        index: usize,
        /// Id of the call.
        call_id: CallId,
        /// What is asked.
        approval: ApprovalNotice,
    },
    /// A call reports progress.
    CallProgress {
        /// Place in the batch.
        index: usize,
        /// The report.
        progress: Progress,
    },
    /// A call has settled.
    CallSettled {
        /// Place in the batch.
        index: usize,
        /// Id of the call.
        call_id: CallId,
        /// How it ended.
        status: CallStatus,
        /// From the start of the batch.
        duration: Duration,
    },
    /// Every call has settled; nothing follows.
    BatchSettled {
        /// Whether a result asked to stop the run.
        stop: bool,
    },
}

/// How far a call has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// What is done, in the tool's own unit.
    pub done: f64,
    /// What there is to do, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The events of one batch, in order.
#[derive(Debug)]
pub struct BatchEvents(mpsc::Receiver<BatchEvent>);

/// Where a batch sends its events. The channel has room for every start, question and end, so those are never dropped;
/// progress only takes the room beside them.
#[derive(Debug)]
pub(crate) struct EventSender {
    channel: mpsc::Sender<BatchEvent>,
    /// Which calls have settled, so that no progress follows the end of its call.
    settled: Mutex<Vec<bool>>,
}

// === impl BatchEvents ===

impl BatchEvents {
    /// The next event, or nothing after the last one.
    pub async fn next(&mut self) -> Option<BatchEvent> {
        self.0.recv().await
    }
}

// === impl EventSender ===

impl EventSender {
    pub(crate) fn new(calls: usize) -> (Self, BatchEvents) {
        let (channel, events) = mpsc::channel(3 * calls + 1 + PROGRESS_ROOM);
        (Self { channel, settled: Mutex::new(vec![false; calls]) }, BatchEvents(events))
    }

    pub(super) fn started(&self, index: usize, call: &ToolCall) {
        self.send(BatchEvent::CallStarted { index, call_id: call.call_id.clone() });
    }

    pub(super) fn approval_required(&self, index: usize, call: &ToolCall, approval: &ApprovalNotice) {
        let approval = approval.clone();
        self.send(BatchEvent::ApprovalRequired { index, call_id: call.call_id.clone(), approval });
    }

    pub(super) fn progress(&self, index: usize, progress: Progress) {
        let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let reserved = self.channel.max_capacity() - PROGRESS_ROOM;
        if settled[index] || self.channel.capacity() <= reserved {
            return;
        }
        self.send(BatchEvent::CallProgress { index, progress });
    }

    pub(super) fn settled(&self, index: usize, call: &ToolCall, status: CallStatus, duration: Duration) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        settled[index] = true;
        self.send(BatchEvent::CallSettled { index, call_id: call.call_id.clone(), status, duration });
    }

    pub(super) fn batch_settled(&self, stop: bool) {
        self.send(BatchEvent::BatchSettled { stop });
    }

    /// Nobody listening is no fault.
    fn send(&self, event: BatchEvent) {
        drop(self.channel.try_send(event));
    }
}

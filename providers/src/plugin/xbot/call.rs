//! Call: one tool call on its way to a plugin.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::oneshot;
use tokio::time::Instant;
use toolyard::{CallContext, InvokeResult, JsonText, ToolExecutionContext, ToolInvocation};

use super::request;

const WAITING: u8 = 0;
const STARTED: u8 = 1;
const LEFT: u8 = 2;

/// One tool call on its way to a plugin.
#[derive(Debug)]
pub(super) struct Call {
    /// Unique within its provider; also the id of its request.
    pub(super) serial: u64,
    invocation: ToolInvocation,
    execution: Arc<ToolExecutionContext>,
    deadline: Instant,
    turn: Arc<Turn>,
    reply: oneshot::Sender<InvokeResult>,
}

/// What a call's own future keeps of it.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) turn: Arc<Turn>,
    pub(super) reply: oneshot::Receiver<InvokeResult>,
}

/// Whether a call has had its turn. It either starts or leaves, never both.
#[derive(Debug)]
pub(super) struct Turn(AtomicU8);

// === impl Call ===

impl Call {
    pub(super) fn new(serial: u64, invocation: ToolInvocation, context: &CallContext) -> (Self, Ticket) {
        let turn = Arc::new(Turn(AtomicU8::new(WAITING)));
        let (reply, receiver) = oneshot::channel();
        let ticket = Ticket { turn: Arc::clone(&turn), reply: receiver };
        let execution = Arc::clone(context.execution());
        (Self { serial, invocation, execution, deadline: context.deadline(), turn, reply }, ticket)
    }

    /// Takes the call's turn. Nothing where its caller has left.
    pub(super) fn start(&self) -> Option<JsonText> {
        if self.reply.is_closed() || !self.turn.change(STARTED) {
            return None;
        }
        let time_left = self.deadline.saturating_duration_since(Instant::now());
        let arguments = self.invocation.arguments().json();
        Some(request::call_params(self.invocation.tool_name(), arguments, &self.execution, time_left))
    }

    /// A caller that has gone needs no answer.
    pub(super) fn settle(self, result: InvokeResult) {
        drop(self.reply.send(result));
    }
}

// === impl Turn ===

impl Turn {
    /// Gives the turn up, unless it has come.
    pub(super) fn leave(&self) -> bool {
        self.change(LEFT)
    }

    fn change(&self, to: u8) -> bool {
        self.0.compare_exchange(WAITING, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

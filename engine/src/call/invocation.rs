//! What a provider gets for one call: the invocation (what to run) and the call context (how to run it).
//!
//! Both are handles into the running batch: making them copies nothing.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Arguments, CallId, ToolExecutionContext};
use crate::dispatch::{Held, Progress, RunningBatch};
use crate::provider::HostPort;
use crate::session::ReceivedMessage;
use crate::tool::ToolSpec;

/// What to run (seed 001, section 3.1): a call whose tool is known and whose arguments are checked.
#[derive(Clone)]
pub struct ToolInvocation {
    batch: Arc<RunningBatch>,
    index: usize,
    /// Those that middleware gave, where they are not the call's own.
    arguments: Option<Arguments>,
}

/// How to run it: the conversation, the deadline, the cancel signal, progress, and the host.
pub struct CallContext {
    pub(super) batch: Arc<RunningBatch>,
    index: usize,
    token: OnceLock<CancellationToken>,
}

/// Keeps a call's place among those in flight, with its permits, until it is dropped (see [`CallContext::hold`]).
#[derive(Debug)]
#[must_use = "the place is given back when this is dropped"]
pub struct CallHold {
    _held: Arc<Held>,
}

// === impl ToolInvocation ===

impl ToolInvocation {
    pub(crate) fn new(batch: Arc<RunningBatch>, index: usize) -> Self {
        Self { batch, index, arguments: None }
    }

    pub(crate) fn with_arguments(self, arguments: Option<Arguments>) -> Self {
        Self { arguments, ..self }
    }

    pub(crate) fn execution(&self) -> &Arc<ToolExecutionContext> {
        &self.batch.context
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.batch.deadline(self.index)
    }

    pub(crate) fn is_repeatable(&self) -> bool {
        self.batch.tool(self.index).is_repeatable
    }

    /// The place of the tool in its provider's listing.
    pub(crate) fn listed_at(&self) -> usize {
        self.batch.tool(self.index).listed_at
    }

    /// The tool's name within its provider.
    pub fn tool_name(&self) -> &str {
        &self.spec().name
    }

    /// The tool's declaration.
    pub fn spec(&self) -> &ToolSpec {
        &self.batch.tool(self.index).spec
    }

    /// The checked arguments.
    pub fn arguments(&self) -> &Arguments {
        self.arguments.as_ref().unwrap_or(&self.batch.admitted[self.index].arguments)
    }

    /// Id of the call.
    pub fn call_id(&self) -> &CallId {
        &self.batch.call(self.index).call_id
    }

    /// Session id.
    pub fn session_id(&self) -> &str {
        &self.batch.context.session_id
    }

    /// Chat stream id.
    pub fn stream_id(&self) -> &str {
        &self.batch.context.stream_id
    }

    /// Why the model chose the tool.
    pub fn reasoning(&self) -> &str {
        &self.batch.context.reasoning
    }

    /// Whatever else the backend says.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.batch.context.metadata
    }
}

impl fmt::Debug for ToolInvocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolInvocation").field("call_id", self.call_id()).field("tool", &self.tool_name()).finish()
    }
}

// === impl CallContext ===

impl CallContext {
    pub(crate) fn new(batch: Arc<RunningBatch>, index: usize) -> Self {
        Self { batch, index, token: OnceLock::new() }
    }

    /// The conversation.
    pub fn execution(&self) -> &Arc<ToolExecutionContext> {
        &self.batch.context
    }

    /// The message that really asked for the call: there for every call of a tool that needs it
    /// ([`crate::ToolFlags::needs_source`]), and for no other.
    pub fn source_message(&self) -> Option<&Arc<ReceivedMessage>> {
        self.batch.admitted[self.index].source.as_ref().map(|source| &source.message)
    }

    /// When the engine gives the call up.
    pub fn deadline(&self) -> Instant {
        self.batch.deadline(self.index)
    }

    /// A token that is cancelled when the call is: by its caller, its batch, its session, its deadline or the end of
    /// its provider. Pass it to work that outlives the call's own future.
    pub fn cancel_token(&self) -> &CancellationToken {
        self.token.get_or_init(|| self.batch.token_of(self.index))
    }

    /// Whether the call is cancelled; for handlers that block and have to look for themselves.
    pub fn is_cancelled(&self) -> bool {
        self.cancel_token().is_cancelled()
    }

    /// Reports how far the call has come. Reports nobody takes in time are dropped, the newest last; nothing is sent
    /// after the call has settled.
    pub fn progress(&self, progress: Progress) {
        self.batch.report(self.index, progress);
    }

    /// Keeps the call's place after its future is gone, until the hold is dropped: it goes on counting as in flight at
    /// its provider and under `max_in_flight` of its tool and provider. For providers that pass a cancellation on and wait
    /// until whoever runs the tool has acknowledged it, so that limits stay true.
    ///
    /// Take it before the future ends and drop it in bounded time, at the latest when the provider closes: the drain of a
    /// provider waits for it. What the caller gets, and when, does not change. The engine's own `max_in_flight` counts
    /// calls only as long as their batch.
    pub fn hold(&self) -> CallHold {
        CallHold { _held: self.batch.hold(self.index) }
    }

    /// Whether the result is wanted as the tool's own protocol gives it too, in [`ToolExecutionResult::native`].
    ///
    /// [`ToolExecutionResult::native`]: crate::ToolExecutionResult::native
    pub fn wants_native_result(&self) -> bool {
        self.batch.native_results
    }

    /// The bot backend behind the engine, or whoever stands for it in this batch.
    pub fn host(&self) -> &Arc<dyn HostPort> {
        &self.batch.host
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext").field("index", &self.index).field("deadline", &self.deadline()).finish()
    }
}

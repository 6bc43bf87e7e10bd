//! Calls and batches, as a backend hands them over.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use ahash::RandomState;
use tokio_util::sync::CancellationToken;

use super::{
    Arguments, BatchId, CallId, CallPolicy, Profile, RawArguments, SessionKey, ToolExecutionContext, TurnId,
    read_arguments,
};
use crate::approval::ApprovalRequest;
use crate::json::JsonText;
use crate::limits::Limits;
use crate::policy::ApprovalMode;
use crate::provider::HostPort;
use crate::result::{CallError, Repair};

/// What the model said: one call.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Id of the call. [`ToolBatch::new`] gives unique ids to calls whose id is missing or repeated.
    pub call_id: CallId,
    /// The name by which the model called the tool.
    pub name: Arc<str>,
    /// The arguments as the model wrote them.
    pub arguments: RawArguments,
    /// What the vendor wants back with the result, byte for byte.
    pub opaque: Option<JsonText>,
}

/// The calls of one reply, to be run together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolBatch {
    /// Id of the batch; may be chosen by the caller.
    pub id: BatchId,
    /// The calls, in the model's order.
    pub calls: Vec<ToolCall>,
    /// The context that all calls share.
    pub context: Arc<ToolExecutionContext>,
    /// The session: what the model has loaded and read there decides what may run. Batches in flight can be cancelled by
    /// it. Without one there is no discovery, no turn and no taint.
    pub session: Option<SessionKey>,
    /// The turn of the session; the present one where absent. One that was never named before begins.
    pub turn: Option<TurnId>,
    /// Time for the whole batch, from its start. Without one each tool's own deadline holds alone.
    pub deadline: Option<Duration>,
    /// How names and arguments are read.
    pub policy: CallPolicy,
    /// Ends the batch early from outside; one token may serve many batches.
    pub cancel: Option<CancellationToken>,
    /// Whom the providers may ask during these calls, instead of the engine's own bot backend.
    pub host: Option<Arc<dyn HostPort>>,
    /// Whether deferred tools count as loaded: for callers that show their model every tool.
    pub all_loaded: bool,
    /// Whether results are wanted in the form of their tools' own protocols too, see
    /// [`crate::ToolExecutionResult::native`].
    pub native_results: bool,
    /// What becomes of calls that a person has to agree to, instead of what policy says. Without a session none waits.
    pub approvals: Option<ApprovalMode>,
    /// The call that was approved and is run now, alone in this batch.
    pub(crate) approved: Option<Arc<ApprovalRequest>>,
}

// === impl ToolCall ===

impl ToolCall {
    /// A call with an id of its own.
    pub fn new(call_id: impl Into<CallId>, name: impl Into<Arc<str>>, arguments: impl Into<RawArguments>) -> Self {
        Self { call_id: call_id.into(), name: name.into(), arguments: arguments.into(), opaque: None }
    }

    /// Reads the arguments without a tool's schema.
    ///
    /// # Errors
    /// What is wrong with them, and where.
    pub fn read(&self, profile: Profile, limits: &Limits) -> Result<(Arguments, Vec<Repair>), CallError> {
        read_arguments(self.arguments.clone(), profile, limits)
    }

    /// The same call with what its vendor wants back.
    #[must_use]
    pub fn with_opaque(mut self, opaque: Option<JsonText>) -> Self {
        self.opaque = opaque;
        self
    }
}

// === impl ToolBatch ===

impl ToolBatch {
    /// A batch with a fresh id, no session and no deadline of its own.
    ///
    /// Calls whose id is empty or stands before are given unique ids `call_<n>`, so that each result can be told apart.
    pub fn new(mut calls: Vec<ToolCall>) -> Self {
        make_ids_unique(&mut calls);
        Self {
            id: BatchId::fresh(),
            calls,
            context: Arc::default(),
            session: None,
            turn: None,
            deadline: None,
            policy: CallPolicy::default(),
            cancel: None,
            host: None,
            all_loaded: false,
            native_results: false,
            approvals: None,
            approved: None,
        }
    }

    /// The same batch in this context.
    #[must_use]
    pub fn with_context(mut self, context: Arc<ToolExecutionContext>) -> Self {
        self.context = context;
        self
    }

    /// The same batch, in this session.
    #[must_use]
    pub fn with_session(mut self, session: SessionKey) -> Self {
        self.session = Some(session);
        self
    }

    /// The same batch, in this turn of its session.
    #[must_use]
    pub fn with_turn(mut self, turn: TurnId) -> Self {
        self.turn = Some(turn);
        self
    }

    /// The same batch, for which deferred tools count as loaded.
    #[must_use]
    pub fn with_all_loaded(mut self) -> Self {
        self.all_loaded = true;
        self
    }

    /// The same batch, its calls read in this way; a [`crate::Profile`] alone will do.
    #[must_use]
    pub fn with_policy(mut self, policy: impl Into<CallPolicy>) -> Self {
        self.policy = policy.into();
        self
    }

    /// The same batch, whose providers ask this host.
    #[must_use]
    pub fn with_host(mut self, host: Arc<dyn HostPort>) -> Self {
        self.host = Some(host);
        self
    }

    /// The same batch with results in the form of their tools' own protocols beside the engine's.
    #[must_use]
    pub fn with_native_results(mut self) -> Self {
        self.native_results = true;
        self
    }

    /// The same batch, its calls that a person has to agree to treated like this.
    #[must_use]
    pub fn with_approvals(mut self, mode: ApprovalMode) -> Self {
        self.approvals = Some(mode);
        self
    }

    /// The same batch with this much time from its start.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The same batch, ended early when this token is cancelled.
    #[must_use]
    pub fn with_cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }
}

fn make_ids_unique(calls: &mut [ToolCall]) {
    let mut seen: HashSet<CallId, RandomState> = HashSet::with_capacity_and_hasher(calls.len(), RandomState::new());
    let mut repeated = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        if call.call_id.as_str().is_empty() || !seen.insert(call.call_id.clone()) {
            repeated.push(index);
        }
    }
    for index in repeated {
        let fresh = (index + 1..)
            .map(|n| CallId::from(format!("call_{n}")))
            .find(|id| !seen.contains(id))
            .unwrap_or_else(|| calls[index].call_id.clone());
        seen.insert(fresh.clone());
        calls[index].call_id = fresh;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_repeated_ids_become_unique_and_others_stay() {
        let ids = ["a", "", "a", "call_2"];
        let calls = ids.iter().map(|id| ToolCall::new(*id, "t", RawArguments::Absent)).collect();
        let batch = ToolBatch::new(calls);
        let given: Vec<&str> = batch.calls.iter().map(|call| call.call_id.as_str()).collect();
        assert_eq!(given, ["a", "call_3", "call_4", "call_2"]);
    }
}

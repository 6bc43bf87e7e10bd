//! Asker: who waits for the answer to a request, and what the server says to them meanwhile.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolyard::{CallContext, CallHold, HostCaller, HostPort, JsonText, NoHost, Progress, ToolInvocation};

use crate::mcp::upstream::bridge::BridgedRequest;

/// Log lines and requests that may wait for one asker.
const MAIL: usize = 64;

/// Who waits for the answer to a request.
pub(in crate::mcp::upstream) struct Asker {
    behalf: Behalf,
    deadline: Instant,
    /// How long the server may say nothing.
    idle: Option<Duration>,
    state: Mutex<State>,
    pub(super) mailed: Notify,
}

/// Tenant, session and stream.
pub(super) type Conversation = [String; 3];

/// On whose behalf a request is made.
enum Behalf {
    Call { context: CallContext, caller: HostCaller },
    Host { host: Arc<dyn HostPort>, tenant: Arc<str>, session: Arc<str> },
    Nobody(Arc<dyn HostPort>),
}

struct State {
    heard: Instant,
    done: f64,
    mail: VecDeque<Mail>,
    /// Its host does not take log lines in time, so that they would hold the call up.
    is_deaf: bool,
}

/// What a server says to whoever waits for it.
#[derive(Debug)]
pub(in crate::mcp::upstream) enum Mail {
    /// A line of its log.
    Log(JsonText),
    /// A request of its own.
    Request(BridgedRequest),
}

// === impl Asker ===

impl Asker {
    pub(in crate::mcp::upstream) fn call(
        invocation: &ToolInvocation,
        context: CallContext,
        idle: Option<Duration>,
    ) -> Self {
        let caller = HostCaller {
            call_id: invocation.call_id().clone(),
            tool: Arc::clone(&invocation.spec().name),
            context: Arc::clone(context.execution()),
        };
        let deadline = context.deadline();
        Self::new(Behalf::Call { context, caller }, deadline, idle)
    }

    /// For a request of this tenant and session that is no call.
    pub(in crate::mcp::upstream) fn other(
        host: Option<Arc<dyn HostPort>>,
        [tenant, session]: [&Arc<str>; 2],
        deadline: Instant,
    ) -> Self {
        let behalf = match host {
            Some(host) => Behalf::Host { host, tenant: Arc::clone(tenant), session: Arc::clone(session) },
            None => Behalf::Nobody(Arc::new(NoHost)),
        };
        Self::new(behalf, deadline, None)
    }

    fn new(behalf: Behalf, deadline: Instant, idle: Option<Duration>) -> Self {
        let state = State { heard: Instant::now(), done: f64::NEG_INFINITY, mail: VecDeque::new(), is_deaf: false };
        Self { behalf, deadline, idle, state: Mutex::new(state), mailed: Notify::new() }
    }

    /// The call that waits, if it is one.
    pub(in crate::mcp::upstream) fn context(&self) -> Option<&CallContext> {
        match &self.behalf {
            Behalf::Call { context, .. } => Some(context),
            Behalf::Host { .. } | Behalf::Nobody(_) => None,
        }
    }

    pub(in crate::mcp::upstream) fn caller(&self) -> Option<&HostCaller> {
        match &self.behalf {
            Behalf::Call { caller, .. } => Some(caller),
            Behalf::Host { .. } | Behalf::Nobody(_) => None,
        }
    }

    /// The conversation that it is part of. Those without a session are one, for nothing tells them apart.
    pub(super) fn conversation(&self) -> Option<Conversation> {
        let [tenant, session, stream] = match &self.behalf {
            Behalf::Call { caller, .. } => {
                [&*caller.context.tenant, &*caller.context.session_id, &*caller.context.stream_id]
            }
            Behalf::Host { tenant, session, .. } => [&**tenant, &**session, ""],
            Behalf::Nobody(_) => return None,
        };
        Some([tenant, session, stream].map(str::to_owned))
    }

    /// Whether there is anybody to tell what the server says, and to answer what it asks.
    pub(super) fn listens(&self) -> bool {
        !matches!(self.behalf, Behalf::Nobody(_))
    }

    /// Who answers what the server asks.
    pub(in crate::mcp::upstream) fn host(&self) -> &Arc<dyn HostPort> {
        match &self.behalf {
            Behalf::Call { context, .. } => context.host(),
            Behalf::Host { host, .. } | Behalf::Nobody(host) => host,
        }
    }

    pub(in crate::mcp::upstream) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Keeps the call's place among those in flight.
    pub(super) fn hold(&self) -> Option<CallHold> {
        self.context().map(CallContext::hold)
    }

    /// Passes progress on. What goes backwards is dropped, and counts as a sign of life all the same.
    pub(super) fn progress(&self, progress: Progress) {
        {
            let mut state = self.state();
            state.heard = Instant::now();
            if progress.done <= state.done {
                return;
            }
            state.done = progress.done;
        }
        if let Some(context) = self.context() {
            context.progress(progress);
        }
    }

    /// When the server has said nothing for too long, unless it says something before.
    pub(super) fn idle_at(&self) -> Option<Instant> {
        self.idle.map(|idle| self.state().heard + idle)
    }

    /// How long the server may say nothing.
    pub(super) fn idle(&self) -> Duration {
        self.idle.unwrap_or_default()
    }

    /// The silence is counted from now on: it is the server's turn.
    pub(super) fn begin(&self) {
        if self.idle.is_some() {
            self.state().heard = Instant::now();
        }
    }

    /// Leaves something for the asker. Gives it back when too much waits already.
    pub(super) fn mail(&self, mail: Mail) -> Result<(), Mail> {
        let mut state = self.state();
        if state.mail.len() >= MAIL || (state.is_deaf && matches!(mail, Mail::Log(_))) {
            return Err(mail);
        }
        state.heard = Instant::now();
        state.mail.push_back(mail);
        drop(state);
        self.mailed.notify_one();
        Ok(())
    }

    pub(super) fn is_deaf(&self) -> bool {
        self.state().is_deaf
    }

    /// No log lines any more.
    pub(super) fn deafen(&self) {
        self.state().is_deaf = true;
    }

    pub(super) fn has_mail(&self) -> bool {
        !self.state().mail.is_empty()
    }

    pub(super) fn take_mail(&self) -> VecDeque<Mail> {
        std::mem::take(&mut self.state().mail)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asker").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

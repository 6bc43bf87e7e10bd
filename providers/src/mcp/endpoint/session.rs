//! Session: one client of the older revisions, from `initialize` to its end.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use toolyard::{CancellationToken, JsonText, SessionKey, ToolExecutionContext};

use super::error::RpcError;
use super::line::Outlet;
use super::message::Response;
use super::meta::{ClientCapabilities, LogLevel};

/// Resources that one session may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 1_000;

/// One client of the older revisions.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) key: SessionKey,
    pub(super) capabilities: ClientCapabilities,
    pub(super) context: Arc<ToolExecutionContext>,
    /// What it was told that there is, when it was opened.
    pub(super) offered: Offered,
    /// Cancelled when the session is over.
    pub(super) ended: CancellationToken,
    next_id: AtomicU64,
    state: Mutex<State>,
}

/// Lists whose changes a client hears of, beside that of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

#[derive(Debug)]
struct State {
    log_level: Option<LogLevel>,
    subscriptions: HashSet<String>,
    /// Requests to the client that wait for its answer.
    asked: HashMap<u64, oneshot::Sender<Result<JsonText, RpcError>>>,
    /// Requests of the client that run, by the text of their ids.
    running: HashMap<Arc<str>, (u64, CancellationToken)>,
    /// Where it hears what belongs to no request.
    stream: Option<(Outlet, CancellationToken)>,
    last_seen: Instant,
    is_deaf: bool,
}

/// A request of the client while it runs. It is out of the list when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    session: Arc<Session>,
    id: Arc<str>,
    number: u64,
    pub(super) cancelled: CancellationToken,
}

/// A request to the client that waits for its answer.
#[derive(Debug)]
pub(super) struct Question {
    session: Arc<Session>,
    pub(super) id: u64,
    pub(super) answer: oneshot::Receiver<Result<JsonText, RpcError>>,
}

// === impl Session ===

impl Session {
    pub(super) fn new(key: SessionKey, capabilities: ClientCapabilities, offered: Offered) -> Self {
        let context = ToolExecutionContext {
            session_id: key.session.to_string(),
            tenant: key.tenant.to_string(),
            channel: super::CHANNEL.to_owned(),
            ..ToolExecutionContext::default()
        };
        Self {
            key,
            capabilities,
            context: Arc::new(context),
            offered,
            ended: CancellationToken::new(),
            next_id: AtomicU64::new(1),
            state: Mutex::new(State {
                log_level: None,
                subscriptions: HashSet::new(),
                asked: HashMap::new(),
                running: HashMap::new(),
                stream: None,
                last_seen: Instant::now(),
                is_deaf: false,
            }),
        }
    }

    /// Ends everything that belongs to it.
    pub(super) fn end(&self) {
        self.ended.cancel();
        let mut state = self.state();
        state.asked.clear();
        state.stream = None;
    }

    pub(super) fn seen(&self) {
        self.state().last_seen = Instant::now();
    }

    /// Whether nothing was heard of the client for this long. One that listens or waits is not idle.
    pub(super) fn is_idle(&self, limit: Duration) -> bool {
        let state = self.state();
        let listens = state.stream.as_ref().is_some_and(|(stream, _)| !stream.is_closed());
        state.running.is_empty() && !listens && state.last_seen.elapsed() >= limit
    }

    /// Takes a request among those that can be cancelled.
    pub(super) fn enter(self: &Arc<Self>, id: &JsonText) -> Running {
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let cancelled = self.ended.child_token();
        let id: Arc<str> = id.as_str().into();
        self.state().running.insert(Arc::clone(&id), (number, cancelled.clone()));
        Running { session: Arc::clone(self), id, number, cancelled }
    }

    /// `notifications/cancelled`: the request with this id is not awaited any more.
    pub(super) fn cancel(&self, id: &JsonText) {
        let cancelled = self.state().running.get(id.as_str()).map(|(_, token)| token.clone());
        if let Some(cancelled) = cancelled {
            cancelled.cancel();
        }
    }

    /// A place for the answer to a request to the client.
    pub(super) fn ask(self: &Arc<Self>) -> Question {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        let mut state = self.state();
        if !state.is_deaf {
            state.asked.insert(id, sender);
        }
        drop(state);
        Question { session: Arc::clone(self), id, answer }
    }

    /// The client's answer to a request of ours. One that nobody waits for any more is dropped.
    pub(super) fn answered(&self, response: Response) {
        if let Some(asked) = self.state().asked.remove(&response.id) {
            drop(asked.send(response.outcome));
        }
    }

    /// The client cannot answer any more: whatever it is asked, or was asked, is asked in vain.
    pub(super) fn deafen(&self) {
        let mut state = self.state();
        state.is_deaf = true;
        state.asked.clear();
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        self.state().log_level = Some(level);
    }

    pub(super) fn log_level(&self) -> Option<LogLevel> {
        self.state().log_level
    }

    /// # Errors
    /// It has too many subscriptions.
    pub(super) fn subscribe(&self, uri: &str) -> Result<(), RpcError> {
        let mut state = self.state();
        if state.subscriptions.len() >= MAX_SUBSCRIPTIONS && !state.subscriptions.contains(uri) {
            return Err(RpcError::new(RpcError::UNAVAILABLE, "this session has too many subscriptions"));
        }
        state.subscriptions.insert(uri.to_owned());
        Ok(())
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.state().subscriptions.remove(uri);
    }

    pub(super) fn is_subscribed(&self, uri: &str) -> bool {
        self.state().subscriptions.contains(uri)
    }

    /// The client listens here from now on, and nowhere else. The token is cancelled when it does not any more.
    pub(super) fn listen(&self, stream: Outlet) -> CancellationToken {
        let over = self.ended.child_token();
        let before = self.state().stream.replace((stream, over.clone()));
        if let Some((_, before)) = before {
            before.cancel();
        }
        over
    }

    /// The client does not listen here any more.
    pub(super) fn deaf(&self, stream: &Outlet) {
        let mut state = self.state();
        if state.stream.as_ref().is_some_and(|(current, _)| current.is_same(stream)) {
            state.stream = None;
            state.last_seen = Instant::now();
        }
    }

    /// Says something that belongs to no request, if the client listens.
    pub(super) fn tell(&self, message: String) {
        if let Some((stream, _)) = &self.state().stream {
            stream.tell(message);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Running ===

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.last_seen = Instant::now();
        if state.running.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            state.running.remove(&self.id);
        }
    }
}

// === impl Question ===

impl Drop for Question {
    fn drop(&mut self) {
        self.session.state().asked.remove(&self.id);
    }
}

//! Calls: which calls wait for an answer, and which were given up and not yet acknowledged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;
use toolyard::{HostCaller, JsonText};

/// How a call ended in the plugin.
#[derive(Debug)]
pub(super) enum Reply {
    Returned(JsonText),
    Raised { kind: String, message: String, detail: String },
}

/// The calls of one runner.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    last: u64,
    waiting: HashMap<u64, Waiting>,
    given_up: HashMap<u64, GivenUp>,
    closed: bool,
}

#[derive(Debug)]
struct Waiting {
    reply: oneshot::Sender<Reply>,
    caller: Caller,
}

/// On whose behalf a call runs, and how long.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The tool or API that runs.
    pub(super) what: Arc<str>,
    /// Absent where a plugin calls another by itself.
    pub(super) host: Option<HostCaller>,
    pub(super) deadline: Instant,
}

#[derive(Debug)]
struct GivenUp {
    tool: Arc<str>,
    since: Instant,
}

// === impl Calls ===

impl Calls {
    /// Adds a call. Nothing once the runner is gone.
    pub(super) fn add(&self, caller: Caller) -> Option<(u64, oneshot::Receiver<Reply>)> {
        let (reply, answer) = oneshot::channel();
        let mut table = self.table();
        if table.closed {
            return None;
        }
        table.last += 1;
        let id = table.last;
        table.waiting.insert(id, Waiting { reply, caller });
        Some((id, answer))
    }

    /// Takes out a call that was never sent.
    pub(super) fn withdraw(&self, id: u64) {
        self.table().waiting.remove(&id);
    }

    /// Ends a call with what its plugin said. An answer that comes too late acknowledges the cancellation.
    pub(super) fn settle(&self, id: u64, reply: Reply) -> bool {
        let waiting = {
            let mut table = self.table();
            table.given_up.remove(&id);
            table.waiting.remove(&id)
        };
        match waiting {
            Some(waiting) => waiting.reply.send(reply).is_ok(),
            None => false,
        }
    }

    /// Gives a call up. Says whether the plugin has to be told.
    pub(super) fn give_up(&self, id: u64) -> bool {
        let mut table = self.table();
        let Some(waiting) = table.waiting.remove(&id) else { return false };
        let given_up = GivenUp { tool: waiting.caller.what, since: Instant::now() };
        table.given_up.insert(id, given_up);
        !table.closed
    }

    pub(super) fn caller(&self, id: u64) -> Option<Caller> {
        self.table().waiting.get(&id).map(|waiting| waiting.caller.clone())
    }

    /// The tools of calls that were given up before `limit` and still run.
    pub(super) fn stuck_since(&self, limit: Instant) -> Vec<Arc<str>> {
        let table = self.table();
        let stuck = table.given_up.values().filter(|given_up| given_up.since <= limit);
        stuck.map(|given_up| Arc::clone(&given_up.tool)).collect()
    }

    /// The runner is gone: every call ends now, and none can be added.
    pub(super) fn close(&self) {
        let mut table = self.table();
        table.closed = true;
        table.waiting.clear();
        table.given_up.clear();
    }

    /// Calls that wait, and calls that were given up and still run.
    pub(super) fn counts(&self) -> (usize, usize) {
        let table = self.table();
        (table.waiting.len(), table.given_up.len())
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Calls: which calls wait for an answer, and which were given up and not yet acknowledged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;
use toolyard::{CallHold, HostCaller, JsonText};

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
    /// Its handler still runs, so its place among the calls in flight is still taken.
    _hold: Option<CallHold>,
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
        let (waiting, given_up) = {
            let mut table = self.table();
            (table.waiting.remove(&id), table.given_up.remove(&id))
        };
        // Outside the lock: it gives its place back.
        drop(given_up);
        waiting.is_some_and(|waiting| waiting.reply.send(reply).is_ok())
    }

    /// Gives a call up; it keeps its place until the plugin acknowledges. Says whether the plugin has to be told.
    pub(super) fn give_up(&self, id: u64, hold: Option<CallHold>) -> bool {
        let mut table = self.table();
        let Some(waiting) = table.waiting.remove(&id) else { return false };
        let given_up = GivenUp { tool: waiting.caller.what, since: Instant::now(), _hold: hold };
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
        let left = {
            let mut table = self.table();
            table.closed = true;
            (std::mem::take(&mut table.waiting), std::mem::take(&mut table.given_up))
        };
        drop(left);
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

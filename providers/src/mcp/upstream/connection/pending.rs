//! Pending: which requests wait for their answers, and which were given up and not yet acknowledged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use toolyard::CallHold;

use super::asker::Asker;
use super::conversations::Conversations;
use super::message::Reply;
use crate::mcp::upstream::transport::Failed;

/// How long a call that was given up keeps its place while its server says nothing of it.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// How a request ended.
#[derive(Debug)]
pub(in crate::mcp::upstream) enum Answer {
    Said(Reply),
    Failed(Failed),
}

/// The requests of one connection.
#[derive(Debug, Default)]
pub(super) struct Pending {
    table: Mutex<Table>,
    gave_up: Notify,
}

/// Where an answer belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Somebody waits for it.
    Awaited,
    /// Its request was given up a moment ago.
    Late,
    /// Its request has had its answer, or was given up long ago.
    Duplicate,
    /// There was no such request.
    Unknown,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    waiting: HashMap<u64, Waiting>,
    given_up: HashMap<u64, GivenUp>,
    conversations: Conversations,
    /// Why the connection has ended.
    ended: Option<Arc<str>>,
}

#[derive(Debug)]
struct Waiting {
    answer: oneshot::Sender<Answer>,
    asker: Option<Arc<Asker>>,
}

#[derive(Debug)]
struct GivenUp {
    since: Instant,
    /// Its tool may still run, so its place among the calls in flight is still taken.
    _hold: Option<CallHold>,
}

// === impl Pending ===

impl Pending {
    /// Adds a request.
    ///
    /// # Errors
    /// Why the connection has ended.
    pub(super) fn add(&self, asker: Option<Arc<Asker>>) -> Result<(u64, oneshot::Receiver<Answer>), Arc<str>> {
        let (answer, awaited) = oneshot::channel();
        let mut table = self.table();
        if let Some(reason) = &table.ended {
            return Err(Arc::clone(reason));
        }
        table.last += 1;
        let id = table.last;
        table.waiting.insert(id, Waiting { answer, asker });
        Ok((id, awaited))
    }

    /// Hands an answer to whoever waits for it. A late one acknowledges that its request was given up.
    pub(super) fn settle(&self, id: u64, answer: Answer) -> Place {
        let (waiting, given_up, is_known) = {
            let mut table = self.table();
            (table.waiting.remove(&id), table.given_up.remove(&id), (1..=table.last).contains(&id))
        };
        match (waiting, given_up) {
            (Some(waiting), _) => {
                drop(waiting.answer.send(answer));
                Place::Awaited
            }
            (None, Some(_)) => Place::Late,
            (None, None) if is_known => Place::Duplicate,
            (None, None) => Place::Unknown,
        }
    }

    /// Whether nothing can be added any more.
    pub(super) fn is_over(&self) -> bool {
        self.table().ended.is_some()
    }

    /// Takes out a request that was never sent.
    pub(super) fn withdraw(&self, id: u64) {
        drop(self.table().waiting.remove(&id));
    }

    /// Gives a request up; with a hold it keeps its place until the server acknowledges or [`GRACE`] is over. Says whether
    /// it was still waiting, so that the server has to be told.
    pub(super) fn give_up(&self, id: u64, hold: Option<CallHold>) -> bool {
        let mut table = self.table();
        let Some(waiting) = table.waiting.remove(&id) else { return false };
        if let Some(asker) = &waiting.asker {
            table.conversations.gave_up(asker);
        }
        if table.ended.is_some() {
            return false;
        }
        table.given_up.insert(id, GivenUp { since: Instant::now(), _hold: hold });
        drop(table);
        self.gave_up.notify_one();
        true
    }

    /// Who waits for the answer to this request, and hears what the server says meanwhile.
    pub(super) fn asker(&self, id: u64) -> Option<Arc<Asker>> {
        self.table().waiting.get(&id)?.asker.clone().filter(|asker| asker.listens())
    }

    /// The only one who waits, if there is just one, and no call of another conversation was given up of late: a server may ask
    /// something for that one, and it must not reach anybody else.
    pub(super) fn only_asker(&self) -> Option<Arc<Asker>> {
        let table = self.table();
        let askers = table.waiting.values().filter_map(|waiting| waiting.asker.as_ref());
        let mut askers = askers.filter(|asker| asker.listens());
        let only = askers.next()?;
        let is_only = askers.next().is_none() && table.conversations.is_sure_of(only);
        is_only.then(|| Arc::clone(only))
    }

    /// Requests that wait for their answers.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.table().waiting.len()
    }

    /// Requests that were given up and not acknowledged.
    #[cfg(test)]
    pub(super) fn given_up(&self) -> usize {
        self.table().given_up.len()
    }

    /// The connection has ended: nothing can be added any more, and every request fails. The first reason counts.
    pub(super) fn end(&self, reason: &str, failure: impl Fn() -> Failed) {
        let (waiting, given_up) = {
            let mut table = self.table();
            table.ended.get_or_insert_with(|| reason.into());
            (std::mem::take(&mut table.waiting), std::mem::take(&mut table.given_up))
        };
        // Outside the lock: they give their places back.
        drop(given_up);
        for waiting in waiting.into_values() {
            drop(waiting.answer.send(Answer::Failed(failure())));
        }
    }

    /// Lets go of what was given up long enough ago, for as long as the connection lives.
    pub(super) async fn sweep(&self) {
        loop {
            self.gave_up.notified().await;
            while let Some(oldest) = self.forget(Instant::now()) {
                tokio::time::sleep_until(oldest + GRACE).await;
            }
        }
    }

    /// Gives the time at which the oldest that is left was given up.
    fn forget(&self, now: Instant) -> Option<Instant> {
        let (gone, oldest) = {
            let mut table = self.table();
            let over = table.given_up.extract_if(|_, given_up| given_up.since + GRACE <= now);
            let gone: Vec<(u64, GivenUp)> = over.collect();
            (gone, table.given_up.values().map(|given_up| given_up.since).min())
        };
        drop(gone);
        oldest
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

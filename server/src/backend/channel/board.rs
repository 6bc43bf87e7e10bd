//! Board: which requests there are, who holds them, and what consumers still have to be told.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::{Notify, oneshot};
use toolyard::{HostRequest, JsonText};

use super::super::request::RequestId;
use super::super::trouble::Trouble;
use super::presence::{Attendance, Presence};

/// Requests that are over and are still known, so that a late answer is told from a wrong one.
const MAX_ENDED: usize = 1024;

/// What a seat is handed.
#[derive(Debug)]
pub(super) enum Handed {
    Request(RequestId, HostRequest),
    /// What it holds is of no use any more.
    Cancelled(RequestId),
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    Accepted,
    /// The request was answered already, or given up.
    Late,
    /// There was no such request, or so long ago that it is forgotten.
    Unknown,
}

/// Where a consumer sits. All who poll share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Seat(u64);

/// Everything that is going on. Bounded by the requests that may be in flight.
#[derive(Debug, Default)]
pub(super) struct Board {
    asked: HashMap<RequestId, Asked>,
    /// In the order in which they came.
    waiting: VecDeque<RequestId>,
    recalls: HashMap<Seat, Recalls>,
    last_seat: u64,
    ended: VecDeque<RequestId>,
    attendance: Attendance,
}

/// A request that has no answer yet.
#[derive(Debug)]
struct Asked {
    request: HostRequest,
    reply: oneshot::Sender<Result<JsonText, Trouble>>,
    /// Nobody while it waits.
    holder: Option<Seat>,
}

/// What one seat held, was given up, and is still to be told. It is told before it gets anything new, so that there are
/// never more of these than requests in flight.
#[derive(Debug, Default)]
struct Recalls {
    ids: VecDeque<RequestId>,
    notice: Arc<Notify>,
}

// === impl Seat ===

impl Seat {
    pub(super) const POLLERS: Self = Self(0);
}

// === impl Board ===

impl Board {
    pub(super) fn post(
        &mut self,
        id: RequestId,
        request: HostRequest,
        reply: oneshot::Sender<Result<JsonText, Trouble>>,
    ) {
        self.asked.insert(id, Asked { request, reply, holder: None });
        self.waiting.push_back(id);
    }

    /// The next thing for this seat, recalls first.
    pub(super) fn take(&mut self, seat: Seat) -> Option<Handed> {
        if let Some(id) = self.recalls.get_mut(&seat).and_then(|recalls| recalls.ids.pop_front()) {
            return Some(Handed::Cancelled(id));
        }
        let id = self.waiting.pop_front()?;
        let asked = self.asked.get_mut(&id)?;
        asked.holder = Some(seat);
        Some(Handed::Request(id, asked.request.clone()))
    }

    pub(super) fn settle(&mut self, id: RequestId, answer: Result<JsonText, Trouble>) -> Settled {
        // What nobody has been given, nobody can answer.
        let is_held = self.asked.get(&id).is_some_and(|asked| asked.holder.is_some());
        if let (true, Some(asked)) = (is_held, self.asked.remove(&id)) {
            self.remember(id);
            let accepted = asked.reply.send(answer).is_ok();
            return if accepted { Settled::Accepted } else { Settled::Late };
        }
        if self.ended.contains(&id) { Settled::Late } else { Settled::Unknown }
    }

    /// Whoever asked has gone. The one that holds the request is told.
    pub(super) fn withdraw(&mut self, id: RequestId) {
        let Some(asked) = self.asked.remove(&id) else { return };
        let Some(holder) = asked.holder else {
            self.waiting.retain(|waiting| *waiting != id);
            return;
        };
        self.remember(id);
        // A seat that is left is gone; the pollers' is made when it is needed.
        if holder == Seat::POLLERS || self.recalls.contains_key(&holder) {
            let recalls = self.recalls.entry(holder).or_default();
            recalls.ids.push_back(id);
            recalls.notice.notify_one();
        }
    }

    pub(super) fn is_waiting(&self, id: RequestId) -> bool {
        self.asked.get(&id).is_some_and(|asked| asked.holder.is_none())
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A seat for a stream, with the notice of its recalls; nothing when all are taken.
    pub(super) fn sit(&mut self, max: usize) -> Option<(Seat, Arc<Notify>)> {
        if self.attendance.streams() >= max {
            return None;
        }
        self.last_seat += 1;
        let seat = Seat(self.last_seat);
        self.attendance.stream_came();
        Some((seat, self.recalls_notice(seat)))
    }

    /// Everything that the seat holds fails: it may have been done, so that it must not be sent again.
    pub(super) fn leave(&mut self, seat: Seat) {
        self.attendance.stream_left();
        self.recalls.remove(&seat);
        let held: Vec<RequestId> =
            self.asked.iter().filter(|(_, asked)| asked.holder == Some(seat)).map(|(id, _)| *id).collect();
        for id in held {
            let Some(asked) = self.asked.remove(&id) else { continue };
            self.remember(id);
            // It may have been given up at this very moment.
            asked.reply.send(Err(Trouble::lost())).ok();
        }
    }

    pub(super) fn poll_started(&mut self) {
        self.attendance.poll_started();
    }

    pub(super) fn poll_ended(&mut self) {
        self.attendance.poll_ended();
    }

    pub(super) fn recalled_by_poll(&mut self) -> Arc<Notify> {
        self.recalls_notice(Seat::POLLERS)
    }

    pub(super) fn presence(&self) -> Presence {
        self.attendance.presence()
    }

    pub(super) fn consumers(&self) -> usize {
        self.attendance.streams()
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.asked.is_empty() && self.recalls.values().all(|recalls| recalls.ids.is_empty())
    }

    fn recalls_notice(&mut self, seat: Seat) -> Arc<Notify> {
        Arc::clone(&self.recalls.entry(seat).or_default().notice)
    }

    fn remember(&mut self, id: RequestId) {
        if self.ended.len() >= MAX_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(id);
    }
}

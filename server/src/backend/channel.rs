//! Channel: for a backend that cannot be called. It connects itself, takes requests, and brings their answers.
//!
//! A request goes to one consumer, once. What a consumer held when it left has failed; what waited goes to the next.

mod board;
mod presence;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use toolyard::{HostRequest, JsonText};

use super::answer::Answer;
use super::metrics;
use super::request::{RequestId, document};
use super::trouble::Trouble;

use board::{Board, Handed, Seat};
use presence::Presence;

pub(crate) use board::Settled;

/// Streams that may be connected at once.
const MAX_CONSUMERS: usize = 64;

/// Where requests wait for consumers, and consumers for requests.
#[derive(Debug)]
pub(crate) struct Channel {
    board: Mutex<Board>,
    presence: watch::Sender<Presence>,
    /// A request has come that nobody has taken.
    arrived: Notify,
    connect_grace: Duration,
    closed: CancellationToken,
}

/// One connected stream. What it holds fails when it is dropped.
#[derive(Debug)]
pub(crate) struct Consumer {
    channel: Arc<Channel>,
    seat: Seat,
    recalled: Arc<Notify>,
}

/// What a consumer is handed.
#[derive(Debug)]
pub(crate) enum Delivery {
    /// A request, as it is written, with the time that is left now.
    Request(Box<RawValue>),
    /// A request that it holds and that is of no use any more.
    Cancelled(RequestId),
}

/// Gives a request up when it is dropped.
struct Posted<'a> {
    channel: &'a Channel,
    id: RequestId,
}

/// Says that somebody polls, for as long as it lives and a little longer.
struct Polling<'a>(&'a Channel);

// === impl Channel ===

impl Channel {
    /// With nobody there, a request waits this long for somebody.
    pub(super) fn new(connect_grace: Duration) -> Self {
        Self {
            board: Mutex::default(),
            presence: watch::Sender::new(Presence::Gone(Instant::now())),
            arrived: Notify::new(),
            connect_grace,
            closed: CancellationToken::new(),
        }
    }

    /// Asks whoever takes it. Dropping the future tells the one that holds it.
    pub(super) async fn ask(&self, request: HostRequest) -> Result<JsonText, Trouble> {
        if self.closed.is_cancelled() {
            return Err(Trouble::closing());
        }
        let patience = Instant::now() + self.connect_grace;
        let mut presence = self.presence.subscribe();
        if presence.borrow().until(patience).is_some_and(|until| until <= Instant::now()) {
            return Err(Trouble::absent());
        }
        let (reply, answered) = oneshot::channel();
        let posted = Posted { channel: self, id: RequestId::new() };
        self.board().post(posted.id, request, reply);
        self.arrived.notify_one();
        tokio::select! {
            biased;
            answer = answered => answer.unwrap_or_else(|_dropped| Err(Trouble::closing())),
            () = self.nobody_came(posted.id, &mut presence, patience) => Err(Trouble::absent()),
        }
    }

    /// Ends once nobody has been there for so long that the request, which nobody has taken, is not to wait any longer.
    async fn nobody_came(&self, id: RequestId, presence: &mut watch::Receiver<Presence>, patience: Instant) {
        loop {
            let until = presence.borrow_and_update().until(patience);
            let patience_ends = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = patience_ends => break,
                changed = presence.changed() => if changed.is_err() { break },
            }
        }
        if !self.board().is_waiting(id) {
            std::future::pending::<()>().await;
        }
    }

    /// Connects a stream; nothing when there are too many already, or the daemon stops.
    pub(crate) fn connect(self: &Arc<Self>) -> Option<Consumer> {
        if self.closed.is_cancelled() {
            return None;
        }
        let mut board = self.board();
        let (seat, recalled) = board.sit(MAX_CONSUMERS)?;
        self.announce(&board);
        drop(board);
        Some(Consumer { channel: Arc::clone(self), seat, recalled })
    }

    /// Waits for requests, up to `max` of them, and for recalls; gives what there is then, or nothing.
    pub(crate) async fn poll(&self, wait: Duration, max: usize) -> Vec<Delivery> {
        let polling = Polling::start(self);
        let first = timeout(wait, self.next(Seat::POLLERS, &polling.recalled())).await;
        let mut taken: Vec<Delivery> = first.ok().flatten().into_iter().collect();
        while taken.len() < max {
            let Some(delivery) = self.take(Seat::POLLERS) else { break };
            taken.push(delivery);
        }
        taken
    }

    /// Takes an answer in.
    pub(crate) fn settle(&self, id: &str, answer: Answer) -> Settled {
        let settled = match RequestId::parse(id) {
            Some(id) => self.board().settle(id, answer.into_result()),
            None => Settled::Unknown,
        };
        match settled {
            Settled::Accepted => {}
            Settled::Late => metrics::count_stray_answer(true),
            Settled::Unknown => metrics::count_stray_answer(false),
        }
        settled
    }

    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// The next thing for this seat; nothing once the channel is closed.
    async fn next(&self, seat: Seat, recalled: &Notify) -> Option<Delivery> {
        loop {
            if let Some(delivery) = self.take(seat) {
                return Some(delivery);
            }
            tokio::select! {
                biased;
                () = self.closed.cancelled() => return None,
                () = self.arrived.notified() => {}
                () = recalled.notified() => {}
            }
        }
    }

    fn take(&self, seat: Seat) -> Option<Delivery> {
        loop {
            match self.hand(seat)? {
                Handed::Cancelled(id) => return Some(Delivery::Cancelled(id)),
                Handed::Request(id, request) => match document(id, &request) {
                    Ok(document) => return Some(Delivery::Request(document)),
                    Err(unwritable) => drop(self.board().settle(id, Err(unwritable))),
                },
            }
        }
    }

    fn hand(&self, seat: Seat) -> Option<Handed> {
        let mut board = self.board();
        let handed = board.take(seat);
        // Two requests may have left one notice.
        if board.has_waiting() {
            self.arrived.notify_one();
        }
        handed
    }

    /// Tells those who wait whether somebody is there.
    fn announce(&self, board: &Board) {
        metrics::set_consumers(board.consumers());
        self.presence.send_replace(board.presence());
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Consumer ===

impl Consumer {
    /// The next thing for this consumer; nothing once the daemon stops. What was given out counts as sent.
    pub(crate) async fn next(&mut self) -> Option<Delivery> {
        self.channel.next(self.seat, &self.recalled).await
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let mut board = self.channel.board();
        board.leave(self.seat);
        self.channel.announce(&board);
    }
}

// === impl Posted ===

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.channel.board().withdraw(self.id);
    }
}

// === impl Polling ===

impl<'a> Polling<'a> {
    fn start(channel: &'a Channel) -> Self {
        let mut board = channel.board();
        board.poll_started();
        channel.announce(&board);
        drop(board);
        Self(channel)
    }

    fn recalled(&self) -> Arc<Notify> {
        self.0.board().recalled_by_poll()
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        let mut board = self.0.board();
        board.poll_ended();
        self.0.announce(&board);
    }
}

#[cfg(test)]
mod tests;

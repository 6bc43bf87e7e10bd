//! The endpoint over standard input and output: one client, one message a line.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Shared;
use super::error::RpcError;
use super::headers::check_meta;
use super::line::Outlet;
use super::message::{Message, Notification, Request, response};
use super::meta::{LEGACY, MODERN, Meta, unsupported};
use super::peer::Peer;
use super::session::{Offered, Session};

/// Lines that wait to be served.
const WAITING: usize = 64;
/// Time for the last lines to be written.
const LINGER: Duration = Duration::from_secs(1);

/// What came on one line.
enum Input {
    Line(Vec<u8>),
    TooLong,
}

/// One client.
struct Client {
    shared: Arc<Shared>,
    outlet: Outlet,
    /// What its requests belong to, so that they can be cancelled: the session that `initialize` opened, else one that
    /// only serves this.
    session: Arc<Session>,
    is_open: bool,
    running: JoinSet<()>,
    /// Streams of changes, which have no end of their own.
    listening: JoinSet<()>,
}

/// Serves until the input ends; what is under way then has `grace` to come to its end.
pub(super) async fn serve(shared: &Arc<Shared>, grace: Duration) {
    let (outlet, messages) = Outlet::new();
    let (lines, mut input) = mpsc::channel(WAITING);
    let max_bytes = shared.config.max_body_bytes;
    // Reading standard input cannot be broken off: a task for blocking work would hold the process up at its end.
    std::thread::spawn(move || read_lines(std::io::stdin().lock(), max_bytes, &lines));
    let (written, all_written) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        write_lines(messages);
        written.send(()).ok();
    });
    let mut client = Client::new(shared, outlet);
    loop {
        tokio::select! {
            line = input.recv() => match line {
                Some(Input::Line(line)) => client.receive(&line).await,
                Some(Input::TooLong) => client.refuse_long(max_bytes).await,
                None => {
                    client.finish(grace).await;
                    break;
                }
            },
            Some(_) = client.running.join_next() => {}
            Some(_) = client.listening.join_next() => {}
            () = shared.closed.cancelled() => break,
        }
    }
    client.leave().await;
    shared.held.clear();
    // What is still being cancelled may hold the output a little longer than there is something to say.
    drop(tokio::time::timeout(LINGER, all_written).await);
}

/// A line that is too long is passed over, and those after it are read.
fn read_lines(input: impl Read, max_bytes: usize, lines: &mpsc::Sender<Input>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
        match input.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_long = line.len() > max_bytes && !line.ends_with(b"\n");
        if is_long && input.skip_until(b'\n').is_err() {
            return;
        }
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        let read = if is_long { Input::TooLong } else { Input::Line(line) };
        if (is_long || !is_blank) && lines.blocking_send(read).is_err() {
            return;
        }
    }
}

fn write_lines(mut messages: super::line::Messages) {
    let mut output = std::io::BufWriter::new(std::io::stdout());
    while let Some(message) = messages.blocking_recv() {
        let mut next = Some(message);
        while let Some(message) = next {
            if output.write_all(message.as_bytes()).and_then(|()| output.write_all(b"\n")).is_err() {
                return;
            }
            next = messages.try_recv().ok();
        }
        if output.flush().is_err() {
            return;
        }
    }
}

// === impl Client ===

impl Client {
    fn new(shared: &Arc<Shared>, outlet: Outlet) -> Self {
        let session = Arc::new(Session::new(
            toolyard::SessionKey { tenant: Arc::default(), session: uuid::Uuid::new_v4().to_string().into() },
            super::meta::ClientCapabilities::default(),
            Offered::default(),
        ));
        Self {
            shared: Arc::clone(shared),
            outlet,
            session,
            is_open: false,
            running: JoinSet::new(),
            listening: JoinSet::new(),
        }
    }

    async fn receive(&mut self, line: &[u8]) {
        match Message::read(line) {
            Ok(Message::Request(request)) => self.request(request).await,
            Ok(Message::Notification(notification)) => self.notified(&notification),
            Ok(Message::Response(response)) => self.session.answered(response),
            Err((id, error)) => {
                let id = super::headers::id_or_null(id);
                self.outlet.send(response(&id, &Err(error))).await;
            }
        }
    }

    /// Whose request it was cannot be told.
    async fn refuse_long(&self, max_bytes: usize) {
        let message = format!("a message may have at most {max_bytes} bytes on its line");
        let refused = Err(RpcError::new(RpcError::INVALID_REQUEST, message));
        self.outlet.send(response(&super::headers::id_or_null(None), &refused)).await;
    }

    fn notified(&self, notification: &Notification) {
        self.shared.notified(&self.session, notification);
    }

    async fn request(&mut self, request: Request) {
        let meta = request.meta();
        let is_opening = &*request.method == "initialize" && request.params.member("protocolVersion").is_some();
        if is_opening {
            let opened = self.shared.initialize(&request, &Arc::default());
            let outcome = opened.map(|(session, result)| {
                session.listen(self.outlet.clone());
                let before = std::mem::replace(&mut self.session, session);
                self.shared.end(&before);
                self.is_open = true;
                result
            });
            self.outlet.send(response(&request.id, &outcome)).await;
            return;
        }
        match self.peer(&request, &meta) {
            Ok(peer) => self.start(request, peer),
            Err(error) => {
                self.outlet.send(response(&request.id, &Err(error))).await;
            }
        }
    }

    /// Each request says itself of which era it is.
    fn peer(&self, request: &Request, meta: &Meta) -> Result<Peer, RpcError> {
        let is_legacy = meta.version.as_ref().is_some_and(|version| LEGACY.contains(&version.as_str()));
        let is_modern = (meta.version.is_some() && !is_legacy) || &*request.method == "server/discover";
        if is_modern || (!self.is_open && &*request.method != "ping") {
            check_meta(meta)?;
            let version = meta.version.as_deref().unwrap_or_default();
            if version != MODERN {
                return Err(unsupported(version));
            }
            return Ok(Peer::modern(&Arc::default(), meta.capabilities.unwrap_or_default(), meta.log_level));
        }
        Ok(Peer::legacy(Arc::clone(&self.session)))
    }

    fn start(&mut self, request: Request, peer: Peer) {
        let (shared, outlet) = (Arc::clone(&self.shared), self.outlet.clone());
        // A session's own requests enter it by themselves.
        let entered = peer.is_modern().then(|| self.session.enter(&request.id));
        let cancelled = entered.as_ref().map(|entered| entered.cancelled.clone()).unwrap_or_default();
        let tasks = if &*request.method == "subscriptions/listen" { &mut self.listening } else { &mut self.running };
        tasks.spawn(async move {
            let answer = shared.answer(request, peer, outlet.clone());
            let reply = cancelled.run_until_cancelled_owned(answer).await.flatten();
            drop(entered);
            if let Some(reply) = reply {
                outlet.send(reply.text).await;
            }
        });
    }

    /// Its input has ended, and with it what it may still ask; what it has asked is answered. Whoever asks the client
    /// something now asks in vain.
    async fn finish(&mut self, grace: Duration) {
        self.session.deafen();
        let (closed, running) = (&self.shared.closed, &mut self.running);
        let finished = closed.run_until_cancelled(async { while running.join_next().await.is_some() {} });
        drop(tokio::time::timeout(grace, finished).await);
    }

    /// The client is gone: nothing that runs for it is of use any more.
    async fn leave(mut self) {
        self.shared.end(&self.session);
        self.running.shutdown().await;
        self.listening.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_costs_itself_alone() {
        let (lines, mut read) = mpsc::channel(9);
        read_lines(&b"12345678\n\n123456789\n0123456789\nabc\nlast"[..], 8, &lines);
        let mut seen = Vec::new();
        while let Ok(input) = read.try_recv() {
            seen.push(match input {
                Input::Line(line) => String::from_utf8(line).unwrap(),
                Input::TooLong => "-".to_owned(),
            });
        }
        assert_eq!(seen, ["12345678\n", "-", "-", "abc\n", "last"]);
    }
}

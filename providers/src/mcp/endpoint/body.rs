//! The bodies of the endpoint's HTTP answers: one document, or a stream of events.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http_body::{Body, Frame};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::line::{Messages, Outlet};
use super::session::Session;

/// How often a stream on which nothing is said shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A JSON-RPC answer, and the status with which HTTP carries it.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) status: u16,
}

/// A request that is being served. Gives nothing when it was cancelled.
///
/// A client that leaves cancels it, unless it is of a revision in which it goes on.
pub(super) struct Answering {
    work: Option<BoxFuture<'static, Option<Reply>>>,
    goes_on: bool,
}

/// The body of an answer of the endpoint.
#[derive(Debug)]
pub struct McpBody(Kind);

#[derive(Debug)]
enum Kind {
    Whole(Option<Bytes>),
    Events(Box<Events>),
}

/// A stream of events.
struct Events {
    first: Option<String>,
    messages: Messages,
    /// The request that the stream belongs to.
    work: Option<Answering>,
    /// The session that listens here to what belongs to no request.
    listens: Option<Listens>,
    last: Option<String>,
    is_over: bool,
    keep_alive: Interval,
}

/// A session that listens. It does not any more when this is dropped.
struct Listens {
    session: Arc<Session>,
    stream: Outlet,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
}

// === impl Answering ===

impl Answering {
    pub(super) fn new(work: BoxFuture<'static, Option<Reply>>, goes_on: bool) -> Self {
        Self { work: Some(work), goes_on }
    }
}

impl Future for Answering {
    type Output = Option<Reply>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Ready(None) };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let Some(work) = self.work.take().filter(|_| self.goes_on) else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn(work));
        }
    }
}

// === impl McpBody ===

impl McpBody {
    pub(super) fn whole(text: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(Some(text.into())))
    }

    pub(super) fn empty() -> Self {
        Self(Kind::Whole(None))
    }

    /// A stream that belongs to a request: what is said meanwhile, then the answer.
    pub(super) fn of_request(first: Option<String>, messages: Messages, work: Answering) -> Self {
        Self(Kind::Events(Box::new(Events { work: Some(work), first, ..Events::new(messages) })))
    }

    /// A stream for what belongs to no request of a session.
    pub(super) fn of_session(session: Arc<Session>, stream: Outlet, messages: Messages) -> Self {
        let ended = Box::pin(session.listen(stream.clone()).cancelled_owned());
        let listens = Some(Listens { session, stream, ended });
        Self(Kind::Events(Box::new(Events { listens, ..Events::new(messages) })))
    }
}

impl Body for McpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let data = match &mut self.0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take()),
            Kind::Events(events) => events.poll_event(cx),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Events(events) => events.is_over,
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => http_body::SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Events(_) => http_body::SizeHint::default(),
        }
    }
}

// === impl Events ===

impl Events {
    fn new(messages: Messages) -> Self {
        let mut keep_alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { first: None, messages, work: None, listens: None, last: None, is_over: false, keep_alive }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event(&first)));
        }
        if let Some(Poll::Ready(reply)) = self.work.as_mut().map(|work| Pin::new(work).poll(cx)) {
            self.work = None;
            self.last = reply.map(|reply| reply.text);
        }
        if let Poll::Ready(Some(message)) = self.messages.poll_recv(cx) {
            return Poll::Ready(Some(event(&message)));
        }
        let is_done = match &mut self.listens {
            Some(listens) => listens.ended.as_mut().poll(cx).is_ready(),
            None => self.work.is_none(),
        };
        if is_done {
            self.is_over = true;
            return Poll::Ready(self.last.take().map(|last| event(&last)));
        }
        if self.keep_alive.poll_tick(cx).is_ready() {
            return Poll::Ready(Some(Bytes::from_static(b": alive\n\n")));
        }
        Poll::Pending
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

/// One message as an event. Messages stand on one line.
fn event(message: &str) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

// === impl Listens ===

impl Drop for Listens {
    fn drop(&mut self) {
        self.session.deaf(&self.stream);
    }
}

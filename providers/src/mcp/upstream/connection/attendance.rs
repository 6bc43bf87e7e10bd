//! Attendance: what a server says and asks while somebody waits for its answer.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use toolyard::{ErrorCode, JsonText, ToolFailure};

use super::asker::{Asker, Mail};
use super::pending::Answer;
use super::{Connection, answer, gone};
use crate::mcp::upstream::bridge::{Behalf, BridgedRequest};

/// How long a line of the log may take on its way, and how long lines may hold an answer up.
const LOG_TIMEOUT: Duration = Duration::from_secs(1);

/// What is under way for one asker. Dropping it gives it up.
struct Attendance<'a> {
    connection: &'a Connection,
    asker: &'a Asker,
    /// Lines of the log, one of which is being told.
    lines: VecDeque<JsonText>,
    telling: Option<BoxFuture<'a, ()>>,
    asked: FuturesUnordered<BoxFuture<'a, ()>>,
}

/// Waits for an answer, and takes care of what the server says and asks meanwhile.
///
/// # Errors
/// The server has said nothing for too long.
pub(super) async fn attend(
    connection: &Connection,
    asker: &Asker,
    mut answer: oneshot::Receiver<Answer>,
) -> Result<Answer, ToolFailure> {
    let mut attendance: Option<Attendance<'_>> = None;
    asker.begin();
    loop {
        // While it waits for an answer itself, its silence is nobody's fault.
        let is_asking = attendance.as_ref().is_some_and(|attendance| !attendance.asked.is_empty());
        let idle_at = if is_asking { None } else { asker.idle_at() };
        tokio::select! {
            biased;
            answered = &mut answer => {
                last_lines(attendance, connection, asker).await;
                return answered.map_err(|_gone| gone("its connection has ended"));
            }
            () = asker.mailed.notified() => {
                attendance.get_or_insert_with(|| Attendance::new(connection, asker)).take_mail();
            }
            () = go_on(&mut attendance) => asker.begin(),
            () = at(idle_at) => if asker.idle_at().is_none_or(|at| at <= Instant::now()) {
                let idle = asker.idle().as_millis();
                let message = format!("the server said nothing for {idle} ms; the outcome is unknown");
                return Err(ToolFailure::new(ErrorCode::DeadlineExceeded, message));
            },
        }
    }
}

/// What was said before the answer came is told before the answer is.
async fn last_lines<'a>(attendance: Option<Attendance<'a>>, connection: &'a Connection, asker: &'a Asker) {
    let mut attendance = match attendance {
        Some(attendance) => attendance,
        None if asker.has_mail() => Attendance::new(connection, asker),
        None => return,
    };
    attendance.take_mail();
    attendance.asked.clear();
    let told = timeout(LOG_TIMEOUT, async {
        while attendance.telling.is_some() {
            attendance.go_on().await;
        }
    });
    drop(told.await);
}

async fn go_on(attendance: &mut Option<Attendance<'_>>) {
    match attendance {
        Some(attendance) => attendance.go_on().await,
        None => std::future::pending().await,
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

// === impl Attendance ===

impl<'a> Attendance<'a> {
    fn new(connection: &'a Connection, asker: &'a Asker) -> Self {
        Self { connection, asker, lines: VecDeque::new(), telling: None, asked: FuturesUnordered::new() }
    }

    fn take_mail(&mut self) {
        for mail in self.asker.take_mail() {
            match mail {
                Mail::Log(line) => self.lines.push_back(line),
                Mail::Request(bridged) => {
                    let answered = self.answer(bridged);
                    self.asked.push(answered);
                }
            }
        }
        self.tell_next();
    }

    /// Ready when a line was told or a request answered. May be dropped and called again.
    async fn go_on(&mut self) {
        let telling = async {
            match &mut self.telling {
                Some(telling) => telling.await,
                None => std::future::pending().await,
            }
        };
        let is_told = tokio::select! {
            () = telling => true,
            Some(()) = self.asked.next(), if !self.asked.is_empty() => false,
        };
        if is_told {
            self.telling = None;
            self.tell_next();
        }
    }

    /// Lines go one after the other, so that they keep their order.
    fn tell_next(&mut self) {
        if self.asker.is_deaf() {
            self.lines.clear();
        }
        if self.telling.is_none() {
            self.telling = self.lines.pop_front().map(|line| self.tell(line));
        }
    }

    fn tell(&self, line: JsonText) -> BoxFuture<'a, ()> {
        let (connection, asker) = (self.connection, self.asker);
        Box::pin(async move {
            let deadline = (Instant::now() + LOG_TIMEOUT).min(asker.deadline());
            let behalf = Behalf { host: asker.host(), caller: asker.caller(), deadline };
            let told = timeout_at(deadline, connection.bridge().log(line, behalf)).await;
            // A host that knows nothing of logs, or takes none in time, is not asked again.
            if !told.unwrap_or(false) {
                asker.deafen();
            }
        })
    }

    fn answer(&self, bridged: BridgedRequest) -> BoxFuture<'a, ()> {
        let (connection, asker) = (self.connection, self.asker);
        Box::pin(async move {
            let behalf = Behalf { host: asker.host(), caller: asker.caller(), deadline: asker.deadline() };
            answer(connection.bridge(), &**connection.transport(), bridged, behalf).await;
        })
    }
}

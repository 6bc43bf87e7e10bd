//! Line: where what is said while a request runs goes: its progress, its log lines, questions to its client.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use toolyard::{JsonText, Progress};

use super::message::notification;

/// Messages that wait for a slow client; notifications beyond are dropped.
const WAITING: usize = 64;

/// Messages on their way to a client, each on one line.
pub(super) type Messages = mpsc::Receiver<String>;

/// One stream to a client.
#[derive(Clone, Debug)]
pub(super) struct Outlet(mpsc::Sender<String>);

/// The stream of one request. It changes when a client comes back for a call that waited for it.
#[derive(Clone, Debug)]
pub(super) struct Line(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    outlet: Outlet,
    token: Option<JsonText>,
    /// The progress that was told last.
    told: Option<f64>,
}

// === impl Outlet ===

impl Outlet {
    pub(super) fn new() -> (Self, Messages) {
        let (sender, messages) = mpsc::channel(WAITING);
        (Self(sender), messages)
    }

    /// Says something that may get lost.
    pub(super) fn tell(&self, message: String) {
        drop(self.0.try_send(message));
    }

    /// Says something that must not get lost. Whether there is anybody to hear it.
    pub(super) async fn send(&self, message: String) -> bool {
        self.0.send(message).await.is_ok()
    }

    /// Ready when nobody hears any more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.0.same_channel(&other.0)
    }
}

// === impl Line ===

impl Line {
    pub(super) fn new(outlet: Outlet, token: Option<JsonText>) -> Self {
        Self(Arc::new(Mutex::new(State { outlet, token, told: None })))
    }

    /// From now on this stream, with this token, is the request's.
    pub(super) fn switch(&self, outlet: Outlet, token: Option<JsonText>) {
        *self.state() = State { outlet, token, told: None };
    }

    pub(super) fn outlet(&self) -> Outlet {
        self.state().outlet.clone()
    }

    pub(super) fn tell(&self, message: String) {
        self.state().outlet.tell(message);
    }

    pub(super) fn wants_progress(&self) -> bool {
        self.state().token.is_some()
    }

    /// Tells the progress under the client's own token. What is no more than was told before is left out.
    pub(super) fn progress(&self, progress: &Progress) {
        let mut state = self.state();
        let Some(token) = state.token.clone() else { return };
        if !progress.done.is_finite() || state.told.is_some_and(|told| progress.done <= told) {
            return;
        }
        state.told = Some(progress.done);
        let number = |number: f64| JsonText::from_serialize(&number).unwrap_or_else(|_| JsonText::null());
        let mut members = vec![("progressToken", token), ("progress", number(progress.done))];
        members.extend(progress.total.filter(|total| total.is_finite()).map(|total| ("total", number(total))));
        members.extend(progress.message.as_deref().map(|message| ("message", JsonText::string(message))));
        state.outlet.tell(notification("notifications/progress", &JsonText::object(members)));
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(done: f64) -> Progress {
        Progress { done, ..Progress::default() }
    }

    #[test]
    fn progress_grows_strictly_and_goes_nowhere_without_a_token() {
        let (outlet, mut messages) = Outlet::new();
        let line = Line::new(outlet.clone(), Some(JsonText::string("t")));
        for step in [1.0, 1.0, 0.5, f64::NAN, 2.0] {
            line.progress(&done(step));
        }
        let said =
            |messages: &mut Messages| -> Vec<String> { std::iter::from_fn(|| messages.try_recv().ok()).collect() };
        let told = said(&mut messages);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains(r#""params":{"progressToken":"t","progress":1.0}"#), "{told:?}");
        line.switch(outlet, None);
        line.progress(&done(3.0));
        assert!(said(&mut messages).is_empty());
    }
}

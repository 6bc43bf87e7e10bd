//! Pace: waiting for a moment to within some ten microseconds.
//!
//! tokio's own timer ends up to a millisecond late, which would stand in every latency of an open loop that counts from the
//! moment at which a batch was due. A thread of its own waits instead, by the system's timer.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use tokio::sync::Notify;
use tokio::time::Instant;

/// Waits for moments, one at a time. Its thread ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Nothing where there is no thread.
    ask: Option<Sender<Instant>>,
    woken: Arc<Notify>,
}

// === impl Pace ===

impl Pace {
    /// A pace by a thread of its own; by tokio's timer where none can be started.
    pub(crate) fn precise() -> Self {
        let (ask, asked) = channel();
        let woken = Arc::new(Notify::new());
        let wakes = Arc::clone(&woken);
        let thread = std::thread::Builder::new().name("pace".to_owned()).spawn(move || wake(&asked, &wakes));
        Self { ask: thread.is_ok().then_some(ask), woken }
    }

    /// A pace by tokio's timer, which tests can pause.
    #[cfg(test)]
    pub(crate) fn coarse() -> Self {
        Self { ask: None, woken: Arc::default() }
    }

    /// Ends at `due`, at once where that is past.
    pub(crate) async fn until(&self, due: Instant) {
        let is_asked = self.ask.as_ref().is_some_and(|ask| Instant::now() >= due || ask.send(due).is_ok());
        if !is_asked {
            return tokio::time::sleep_until(due).await;
        }
        // It may have been woken for a moment that was given up.
        while Instant::now() < due {
            self.woken.notified().await;
        }
    }
}

/// The thread: wakes whoever waits when it is time, until nobody can ask any more.
fn wake(asked: &Receiver<Instant>, woken: &Notify) {
    let Ok(mut due) = asked.recv() else { return };
    loop {
        let left = due.saturating_duration_since(Instant::now());
        let next = if left.is_zero() {
            woken.notify_one();
            asked.recv().map_err(|_gone| RecvTimeoutError::Disconnected)
        } else {
            asked.recv_timeout(left)
        };
        match next {
            Ok(other) => due = other,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_precise_pace_never_ends_early_and_can_be_given_up_and_used_again() {
        let pace = Pace::precise();
        let given_up = pace.until(Instant::now() + Duration::from_secs(3_600));
        tokio::time::timeout(Duration::from_millis(1), given_up).await.unwrap_err();
        for wait in [3, 1, 0, 2] {
            let due = Instant::now() + Duration::from_millis(wait);
            pace.until(due).await;
            assert!(Instant::now() >= due);
        }
    }
}

//! Outbox: where calls that run in tasks of their own leave their results for the batch.
//!
//! The batch is woken once, by the last of them, unless somebody watches the calls one by one or one of them was given
//! up, since that one may never come.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use futures::task::AtomicWaker;

use super::settled::Settled;

/// Results that wait to be taken.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    running: AtomicUsize,
    eager: AtomicBool,
    waker: AtomicWaker,
}

#[derive(Debug, Default)]
struct State {
    done: Vec<(usize, Settled)>,
    given_up: Vec<usize>,
}

// === impl Outbox ===

impl Outbox {
    pub(super) fn new(eager: bool) -> Self {
        Self {
            state: Mutex::default(),
            running: AtomicUsize::new(0),
            eager: AtomicBool::new(eager),
            waker: AtomicWaker::new(),
        }
    }

    /// From now on the batch is woken by every call.
    pub(super) fn be_eager(&self) {
        self.eager.store(true, Ordering::Release);
    }

    /// Announces one more task.
    pub(super) fn expect_one(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
    }

    /// Leaves a result; called exactly once for each announced task.
    pub(super) fn push(&self, place: usize, settled: Settled) {
        self.lock().done.push((place, settled));
        let was_last = self.running.fetch_sub(1, Ordering::AcqRel) == 1;
        if was_last || self.eager.load(Ordering::Acquire) {
            self.waker.wake();
        }
    }

    /// Registers for news; look for them after this.
    pub(super) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    pub(super) fn take(&self) -> Vec<(usize, Settled)> {
        std::mem::take(&mut self.lock().done)
    }

    pub(super) fn give_up(&self, place: usize) {
        self.lock().given_up.push(place);
        self.be_eager();
    }

    pub(super) fn is_given_up(&self, place: usize) -> bool {
        self.lock().given_up.contains(&place)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Window: the calls of the last stretch of time, in bounded room.

use std::collections::VecDeque;

/// Up to this many calls are remembered one by one; beyond, those that came close together share an entry.
const EXACT: usize = 256;

/// The calls of the last stretch of time. Never forgets a call early: an entry counts until its last call is out of the
/// window, so that a limit of more than [`EXACT`] calls may hold a little longer, by a 256th of its window.
#[derive(Debug, Default)]
pub(super) struct Window {
    entries: VecDeque<Entry>,
    calls: u32,
}

#[derive(Debug)]
struct Entry {
    first: u64,
    last: u64,
    calls: u32,
}

// === impl Window ===

impl Window {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets what is out of the window. Times are in milliseconds.
    pub(super) fn forget(&mut self, now: u64, window: u64) {
        while let Some(entry) = self.entries.front().filter(|entry| entry.last.saturating_add(window) <= now) {
            self.calls = self.calls.saturating_sub(entry.calls);
            self.entries.pop_front();
        }
    }

    /// How long until there is room for one more, 0 where there is; nothing where there never is.
    pub(super) fn wait(&self, now: u64, window: u64, limit: u32) -> Option<u64> {
        if self.calls < limit {
            return Some(0);
        }
        let mut calls = self.calls;
        let leaves = |entry: &Entry| {
            calls = calls.saturating_sub(entry.calls);
            (calls < limit).then(|| entry.last.saturating_add(window).saturating_sub(now))
        };
        self.entries.iter().find_map(leaves)
    }

    /// Counts a call. Times that go back count as the newest there is.
    pub(super) fn add(&mut self, now: u64, window: u64) {
        self.calls = self.calls.saturating_add(1);
        let is_full = self.entries.len() >= EXACT;
        match self.entries.back_mut() {
            Some(last) if last.last >= now || (is_full && last.first.saturating_add(window / EXACT as u64) >= now) => {
                last.calls += 1;
                last.last = last.last.max(now);
            }
            _ => self.entries.push_back(Entry { first: now, last: now, calls: 1 }),
        }
    }

    /// Takes a call back that was counted at this time, as far as it is still there. In doubt the older one goes, which
    /// would be forgotten first.
    pub(super) fn take_back(&mut self, at: u64) {
        let Some(place) = self.entries.iter().rposition(|entry| entry.first <= at) else { return };
        if let Some(entry) = self.entries.get_mut(place).filter(|entry| entry.last >= at) {
            entry.calls -= 1;
            self.calls = self.calls.saturating_sub(1);
            if entry.calls == 0 {
                self.entries.remove(place);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }
}

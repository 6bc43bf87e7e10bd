//! Count: what one key has used of its limit.

use super::window::Window;
use super::{Charge, LimitKind, OverLimit};
use std::time::Duration;

pub(super) const DAY_SECONDS: u64 = 24 * 3600;

/// What one key has used of its limit.
#[derive(Debug, Default)]
pub(super) struct Count {
    window: Window,
    /// Length of the window when it was last used, in milliseconds.
    window_ms: u64,
    /// Days since 1970, by UTC, that `today` counts.
    day: u64,
    today: u32,
    pub(super) last_used: u64,
}

/// When something happens, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Milliseconds of a clock that never goes back.
    pub(super) tick: u64,
    /// Seconds since 1970, by UTC.
    pub(super) seconds: u64,
}

// === impl Count ===

impl Count {
    /// What the charge is over, if anything; of a rate and a quota the one that ends later.
    pub(super) fn over(&mut self, charge: &Charge, now: Moment) -> Option<OverLimit> {
        self.bring_up_to_date(charge, now);
        let over = |kind, retry_after| OverLimit { kind, limit: charge.limit, retry_after };
        let rate = charge.rate.and_then(|rate| {
            // One that lets none pass ends when policy changes; its window stands for that.
            let wait = self.window.wait(now.tick, self.window_ms, rate.calls).unwrap_or(self.window_ms);
            (wait > 0).then(|| over(LimitKind::Rate, Duration::from_millis(wait)))
        });
        let quota = charge
            .quota
            .filter(|quota| self.today >= *quota)
            .map(|_| over(LimitKind::Quota, Duration::from_secs(DAY_SECONDS - now.seconds % DAY_SECONDS)));
        match (rate, quota) {
            (Some(rate), Some(quota)) if rate.retry_after > quota.retry_after => Some(rate),
            (rate, quota) => quota.or(rate),
        }
    }

    /// Counts a call, right after [`Count::over`] has let it pass.
    pub(super) fn spend(&mut self, charge: &Charge, now: Moment) {
        if charge.rate.is_some() {
            self.window.add(now.tick, self.window_ms);
        }
        if charge.quota.is_some() {
            self.today = self.today.saturating_add(1);
        }
        self.last_used = self.last_used.max(now.tick);
    }

    pub(super) fn take_back(&mut self, charge: &Charge, at: Moment) {
        if charge.rate.is_some() {
            self.window.take_back(at.tick);
        }
        if charge.quota.is_some() && self.day == at.seconds / DAY_SECONDS {
            self.today = self.today.saturating_sub(1);
        }
    }

    /// Whether nothing is lost with it.
    pub(super) fn is_idle(&mut self, now: Moment) -> bool {
        self.window.forget(now.tick, self.window_ms);
        self.window.is_empty() && (self.today == 0 || self.day < now.seconds / DAY_SECONDS)
    }

    fn bring_up_to_date(&mut self, charge: &Charge, now: Moment) {
        self.window_ms = charge.rate.map_or(0, |rate| millis(rate.window).max(1));
        self.window.forget(now.tick, self.window_ms);
        let day = now.seconds / DAY_SECONDS;
        // A clock that is set back gives nobody a second day.
        if day > self.day {
            (self.day, self.today) = (day, 0);
        }
    }

    #[cfg(test)]
    pub(super) fn today(&self) -> u32 {
        self.today
    }
}

pub(super) fn millis(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1000).saturating_add(u64::from(time.subsec_millis()))
}

//! Usage: the counts of all keys, in shards.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ahash::RandomState;
use arc_swap::ArcSwapOption;
use tokio::time::Instant;

use super::count::{Count, Moment, millis};
use super::{BatchKeys, Charge, OverLimit, UsageKey};
use crate::call::ToolExecutionContext;
use crate::isolate;
use crate::policy::Policy;
use crate::registry::PreparedTool;

/// More than cores: calls of different callers seldom meet. A power of two.
const SHARDS: usize = 64;

/// Milliseconds for which the time of day is reckoned from the last look at its clock.
const MOST_UNREAD: u64 = 1000;

/// Tells the time of day.
type WallClock = Box<dyn Fn() -> SystemTime + Send + Sync>;

/// How much of their limits callers have used.
pub(crate) struct Usage {
    /// As many as a power of two.
    shards: Box<[Mutex<Shard>]>,
    max_per_shard: usize,
    epoch: Instant,
    wall: ArcSwapOption<WallClock>,
    /// When the time of day was read, in milliseconds since `epoch`; far ahead where it has to be read anew.
    wall_read_at: AtomicU64,
    /// What it was ahead of that, in milliseconds.
    wall_ahead: AtomicU64,
}

type Shard = HashMap<UsageKey, Count, RandomState>;

/// When a call was charged, for taking it back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent(Moment);

// === impl Usage ===

impl Usage {
    pub(crate) fn new(max_keys: usize) -> Self {
        let shards = 1_usize << max_keys.clamp(1, SHARDS).ilog2();
        Self {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            max_per_shard: (max_keys / shards).max(1),
            epoch: Instant::now(),
            wall: ArcSwapOption::empty(),
            wall_read_at: AtomicU64::new(u64::MAX),
            wall_ahead: AtomicU64::new(0),
        }
    }

    /// Puts another clock in the place of the system's.
    pub(crate) fn set_wall_clock(&self, clock: WallClock) {
        self.wall.store(Some(Arc::new(clock)));
        self.wall_read_at.store(u64::MAX, Ordering::Release);
    }

    /// This moment, or one that is over, on both clocks. The system's clock is read about once a second.
    pub(crate) fn at(&self, time: Instant) -> Spent {
        let tick = self.tick(time);
        if self.wall_read_at.load(Ordering::Acquire).abs_diff(tick) > MOST_UNREAD {
            self.read_wall();
        }
        let wall = self.wall_ahead.load(Ordering::Relaxed).saturating_add(tick);
        Spent(Moment { tick, seconds: wall / 1000 })
    }

    fn read_wall(&self) {
        let clock = self.wall.load();
        let told = clock.as_deref().and_then(|clock| isolate::catch(clock).ok());
        let wall = told.unwrap_or_else(SystemTime::now).duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let tick = self.tick(Instant::now());
        self.wall_ahead.store(millis(wall).saturating_sub(tick), Ordering::Relaxed);
        self.wall_read_at.store(tick, Ordering::Release);
    }

    fn tick(&self, time: Instant) -> u64 {
        millis(time.saturating_duration_since(self.epoch))
    }

    /// Fills `charges` with the limits that concern a call, in the order in which they are locked.
    pub(crate) fn charges(
        &self,
        keys: &mut BatchKeys,
        policy: &Policy,
        tool: &PreparedTool,
        context: &ToolExecutionContext,
        charges: &mut Vec<Charge>,
    ) {
        charges.clear();
        for (place, limit) in policy.usage.iter().enumerate().filter(|(_, limit)| tool.is_in(&limit.tools)) {
            let key = keys.key(place, limit, tool.usage_keys, context);
            charges.push(Charge { key, limit: place, rate: limit.rate, quota: limit.quota });
        }
        if charges.len() > 1 {
            charges.sort_unstable_by_key(|charge| (self.place(charge.key), charge.key));
        }
    }

    /// Charges a call to all limits that concern it, or to none. `charges` come from [`Usage::charges`].
    pub(crate) fn spend(&self, charges: &[Charge], Spent(now): Spent) -> Result<(), OverLimit> {
        match charges {
            [] => Ok(()),
            [charge] => {
                let mut shard = self.shard(charge.key, now);
                let count = shard.entry(charge.key).or_default();
                count.over(charge, now).map_or(Ok(()), Err)?;
                count.spend(charge, now);
                Ok(())
            }
            _ => {
                let mut locked = self.lock(charges, now);
                locked.latest_over(charges, now).map_or(Ok(()), Err)?;
                locked.each(charges, |count, charge| count.spend(charge, now));
                Ok(())
            }
        }
    }

    /// What would refuse a call now, if anything. Charges nobody.
    pub(crate) fn peek(&self, charges: &[Charge], Spent(now): Spent) -> Option<OverLimit> {
        self.lock(charges, now).latest_over(charges, now)
    }

    /// Takes back what a call was charged that never had a chance to run.
    pub(crate) fn take_back(&self, charges: &[Charge], Spent(at): Spent) {
        self.lock(charges, at).each(charges, |count, charge| count.take_back(charge, at));
    }

    /// Drops counts that say nothing any more.
    pub(crate) fn purge(&self, now: Instant) {
        if self.shards.iter().all(|shard| lock(shard).is_empty()) {
            return;
        }
        let Spent(now) = self.at(now);
        for shard in &self.shards {
            lock(shard).retain(|_, count| !count.is_idle(now));
        }
    }

    fn place(&self, key: UsageKey) -> usize {
        key.0 as usize & (self.shards.len() - 1)
    }

    fn shard(&self, key: UsageKey, now: Moment) -> MutexGuard<'_, Shard> {
        let mut shard = lock(&self.shards[self.place(key)]);
        if shard.len() >= self.max_per_shard && !shard.contains_key(&key) {
            make_room(&mut shard, self.max_per_shard, now);
        }
        shard
    }

    fn lock(&self, charges: &[Charge], now: Moment) -> Locked<'_> {
        let mut locked: Vec<(usize, MutexGuard<'_, Shard>)> = Vec::with_capacity(charges.len());
        for charge in charges {
            let place = self.place(charge.key);
            if locked.last().is_none_or(|(last, _)| *last != place) {
                locked.push((place, self.shard(charge.key, now)));
            }
        }
        Locked { usage: self, locked }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    #[cfg(test)]
    pub(super) fn used_today(&self, key: UsageKey) -> u32 {
        lock(&self.shards[self.place(key)]).get(&key).map_or(0, Count::today)
    }
}

impl std::fmt::Debug for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Usage").field("max_per_shard", &self.max_per_shard).finish_non_exhaustive()
    }
}

/// The shards of some charges, locked in their order.
struct Locked<'a> {
    usage: &'a Usage,
    locked: Vec<(usize, MutexGuard<'a, Shard>)>,
}

// === impl Locked ===

impl Locked<'_> {
    fn latest_over(&mut self, charges: &[Charge], now: Moment) -> Option<OverLimit> {
        let mut latest: Option<OverLimit> = None;
        self.each(charges, |count, charge| {
            let over = count.over(charge, now);
            latest = [latest, over].into_iter().flatten().max_by_key(|over| over.retry_after);
        });
        latest
    }

    fn each(&mut self, charges: &[Charge], mut look: impl FnMut(&mut Count, &Charge)) {
        for charge in charges {
            let place = self.usage.place(charge.key);
            if let Some((_, shard)) = self.locked.iter_mut().find(|(locked, _)| *locked == place) {
                look(shard.entry(charge.key).or_default(), charge);
            }
        }
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops what says nothing any more, and if that is not enough a sixteenth of the rest, those that were used least
/// lately.
fn make_room(shard: &mut Shard, max: usize, now: Moment) {
    shard.retain(|_, count| !count.is_idle(now));
    if shard.len() < max {
        return;
    }
    let mut ages: Vec<u64> = shard.values().map(|count| count.last_used).collect();
    let share = ages.len() / 16;
    let (_, &mut limit, _) = ages.select_nth_unstable(share);
    let mut left = share + 1;
    shard.retain(|_, count| {
        let goes = left > 0 && count.last_used <= limit;
        left -= usize::from(goes);
        !goes
    });
}

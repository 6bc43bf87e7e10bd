use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use tokio::time::Instant;

use super::window::Window;
use super::{Charge, LimitKind, OverLimit, Usage, UsageKey};
use crate::policy::UsageRate;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

fn charge(key: u128, rate: Option<(u32, Duration)>, quota: Option<u32>) -> Charge {
    let rate = rate.map(|(calls, window)| UsageRate { calls, window });
    Charge { key: UsageKey(key), limit: key as usize, rate, quota }
}

fn usage(max_keys: usize) -> Usage {
    let usage = Usage::new(max_keys);
    let noon = UNIX_EPOCH + 20_000 * DAY + DAY / 2;
    usage.set_wall_clock(Box::new(move || noon));
    usage
}

#[tokio::test(start_paused = true)]
async fn a_window_slides_and_a_refusal_says_when_it_has_room() {
    let usage = usage(10);
    let charges = [charge(1, Some((2, MINUTE)), None)];
    let spend = || usage.spend(&charges, usage.at(Instant::now()));
    assert_eq!(spend(), Ok(()));
    tokio::time::advance(MINUTE / 4).await;
    assert_eq!(spend(), Ok(()));
    let over = OverLimit { kind: LimitKind::Rate, limit: 1, retry_after: MINUTE * 3 / 4 };
    assert_eq!(spend(), Err(over));
    tokio::time::advance(MINUTE * 3 / 4 - Duration::from_millis(1)).await;
    assert!(spend().is_err());
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(spend(), Ok(()), "the first is out of the window");
    assert_eq!(spend().unwrap_err().retry_after, MINUTE / 4, "the second is the next to go");
}

#[tokio::test(start_paused = true)]
async fn a_quota_ends_at_midnight_by_utc_and_a_clock_set_back_renews_nothing() {
    let usage = Usage::new(10);
    let noon = UNIX_EPOCH + 20_000 * DAY + DAY / 2;
    let clock = |time: SystemTime| usage.set_wall_clock(Box::new(move || time));
    let charges = [charge(1, None, Some(1))];
    let spend = || usage.spend(&charges, usage.at(Instant::now()));
    clock(noon);
    assert_eq!(spend(), Ok(()));
    assert_eq!(spend(), Err(OverLimit { kind: LimitKind::Quota, limit: 1, retry_after: DAY / 2 }));
    clock(noon - DAY);
    assert!(spend().is_err());
    clock(noon + DAY / 2 - Duration::from_secs(1));
    assert_eq!(spend().unwrap_err().retry_after, Duration::from_secs(1));
    clock(noon + DAY / 2);
    assert_eq!(spend(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_one_limit_refuses_is_charged_to_none() {
    let usage = usage(1000);
    let (rate, quota) = (charge(1, Some((10, MINUTE)), Some(100)), charge(2, None, Some(1)));
    let now = usage.at(Instant::now());
    for _ in 0..5 {
        usage.spend(&[rate, quota], now).ok();
    }
    assert_eq!((usage.used_today(rate.key), usage.used_today(quota.key)), (1, 1));
    let nine_more = (0..10).filter(|_| usage.spend(&[rate], now).is_ok()).count();
    assert_eq!(nine_more, 9);
    let over = usage.peek(&[rate, quota], now).unwrap();
    assert_eq!((over.kind, over.retry_after), (LimitKind::Quota, DAY / 2), "the one that ends last is told");
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_can_be_spent_again() {
    let usage = usage(1000);
    let charges = [charge(1, Some((1, MINUTE)), None), charge(2, None, Some(1))];
    let now = usage.at(Instant::now());
    for _ in 0..3 {
        assert_eq!(usage.spend(&charges, now), Ok(()));
        assert!(usage.spend(&charges, now).is_err());
        usage.take_back(&charges, now);
    }
}

#[tokio::test(start_paused = true)]
async fn keys_beyond_the_bound_push_out_the_least_lately_used_and_idle_ones_go_by_themselves() {
    let usage = usage(64);
    for key in 0..10_000_u128 {
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(usage.spend(&[charge(key, Some((1, MINUTE)), None)], usage.at(Instant::now())), Ok(()));
    }
    assert_eq!(usage.len(), 64);
    assert!(usage.spend(&[charge(9_999, Some((1, MINUTE)), None)], usage.at(Instant::now())).is_err());
    usage.set_wall_clock(Box::new(|| UNIX_EPOCH + 20_001 * DAY));
    tokio::time::advance(MINUTE).await;
    usage.purge(Instant::now());
    assert_eq!(usage.len(), 0);
}

#[test]
fn threads_together_spend_exactly_what_there_is() {
    let usage = Arc::new(usage(1000));
    let now = Instant::now();
    let passed: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4_u128)
            .map(|worker| {
                let usage = Arc::clone(&usage);
                scope.spawn(move || {
                    let own = charge(10 + worker, None, Some(300));
                    let mut charges = [own, charge(1, Some((500, MINUTE)), Some(900)), charge(2, None, Some(700))];
                    charges.sort_by_key(|charge| (charge.key.0 % 64, charge.key));
                    (0..400).filter(|_| usage.spend(&charges, usage.at(now)).is_ok()).count()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(passed, 500);
    assert_eq!([1, 2].map(|key| usage.used_today(UsageKey(key))), [500; 2]);
    let own: u32 = (10..14).map(|key| usage.used_today(UsageKey(key))).sum();
    assert_eq!(own, 500, "a refusal is charged to none");
}

proptest! {
    #[test]
    fn no_stretch_of_time_ever_holds_more_than_the_limit(
        limit in 1_u32..700,
        window in 1_u64..5000,
        steps in prop::collection::vec((0_u64..40, 1_usize..30), 1..300),
    ) {
        let (mut log, mut now, mut passed) = (Window::default(), 0, Vec::new());
        for (step, calls) in steps {
            now += step;
            for _ in 0..calls {
                log.forget(now, window);
                if log.wait(now, window, limit) == Some(0) {
                    log.add(now, window);
                    passed.push(now);
                } else {
                    // What is told is true, and not later than the window.
                    let wait = log.wait(now, window, limit).unwrap();
                    prop_assert!(wait > 0 && wait <= window);
                }
            }
        }
        for (index, first) in passed.iter().enumerate() {
            let within = passed[index..].iter().take_while(|time| **time < first + window).count();
            prop_assert!(within <= limit as usize, "{within} of {limit} from {first} in {window} ms");
        }
        prop_assert!(log.entries() <= 520, "{} entries", log.entries());
    }

    #[test]
    fn small_limits_are_exact(limit in 1_u32..50, window in 1_u64..500, steps in prop::collection::vec(0_u64..60, 1..200)) {
        let (mut log, mut now, mut passed) = (Window::default(), 0, Vec::<u64>::new());
        for step in steps {
            now += step;
            log.forget(now, window);
            let may = log.wait(now, window, limit) == Some(0);
            let within = passed.iter().filter(|time| **time + window > now).count();
            prop_assert_eq!(may, within < limit as usize);
            if may {
                log.add(now, window);
                passed.push(now);
            }
        }
    }
}

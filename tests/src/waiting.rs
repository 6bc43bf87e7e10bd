//! Waiting for a state instead of for a time.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

/// After this time a test says that something hangs. It measures nothing: a busy machine takes its time, and what is to
/// come at once is told apart from what comes late by the order of events.
pub const HANG: Duration = Duration::from_secs(180);

/// Waits until a state is reached that has to be asked for.
///
/// # Panics
/// When it hangs.
pub async fn until(what: &str, mut state: impl AsyncFnMut() -> bool) {
    eventually(what, async || if state().await { Ok(()) } else { Err("it is not so") }).await;
}

/// Waits until there is what is looked for, and gives it.
///
/// # Panics
/// When it hangs: says what was there instead.
pub async fn eventually<T, E: std::fmt::Display>(what: &str, mut look: impl AsyncFnMut() -> Result<T, E>) -> T {
    let hangs = Instant::now() + HANG;
    loop {
        match look().await {
            Ok(found) => return found,
            Err(instead) => assert!(Instant::now() < hangs, "{what}: not within {HANG:?}: {instead}"),
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for something that ends by itself.
///
/// # Panics
/// When it hangs.
pub async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    timeout(HANG, work).await.unwrap_or_else(|_hangs| panic!("{what}: not within {HANG:?}"))
}

/// As [`until`], for a state that can be looked at. A limit shorter than [`HANG`] would measure the machine: it is not kept.
///
/// # Panics
/// When it hangs.
pub async fn wait_until(what: &str, limit: Duration, mut state: impl FnMut() -> bool) {
    let hangs = Instant::now() + limit.max(HANG);
    while !state() {
        assert!(Instant::now() < hangs, "{what}: not within {:?}", limit.max(HANG));
        sleep(Duration::from_millis(5)).await;
    }
}

//! Work: what a tool does before it answers.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::time::Instant;

/// What every tool does before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Answers at once.
    Nothing,
    /// Lets others run once.
    Yield,
    /// Waits for so long.
    Sleep(Duration),
    /// Computes for so long on an idle core. It is an amount of work, not of time: being interrupted makes it no shorter.
    Compute(Duration),
}

/// Rounds of [`spin`] that take one microsecond.
static ROUNDS_PER_MICROSECOND: OnceLock<f64> = OnceLock::new();
/// Rounds that are timed to find that out, and how often.
const CALIBRATION: (u64, usize) = (100_000, 50);

// === impl Work ===

impl Work {
    /// Finds out how fast this machine is, before anything is timed.
    pub(crate) fn prepare(self) {
        if let Self::Compute(_) = self {
            ROUNDS_PER_MICROSECOND.get_or_init(calibrate);
        }
    }
}

/// Computes for about this long.
pub(crate) fn compute(time: Duration) {
    let per_microsecond = *ROUNDS_PER_MICROSECOND.get_or_init(calibrate);
    spin((time.as_secs_f64() * 1e6 * per_microsecond) as u64);
}

fn spin(rounds: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..rounds {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

fn calibrate() -> f64 {
    let (rounds, times) = CALIBRATION;
    let timed = (0..times).map(|_| {
        let started = Instant::now();
        spin(rounds);
        started.elapsed()
    });
    let fastest = timed.min().unwrap_or_default();
    rounds as f64 / (fastest.as_secs_f64() * 1e6)
}

//! Spent: the time that something took, on the clock and of the processor.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// The time that something took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// On the clock.
    pub wall: Duration,
    /// Of the processor, by all threads of this process.
    pub cpu: Duration,
}

/// Measures [`Spent`].
#[derive(Debug)]
pub struct Meter {
    started: Instant,
    cpu: Duration,
}

// === impl Meter ===

impl Meter {
    /// Begins now.
    pub fn start() -> Self {
        Self { cpu: process_time(), started: Instant::now() }
    }

    /// What was spent since.
    pub fn stop(&self) -> Spent {
        let wall = self.started.elapsed();
        Spent { wall, cpu: process_time().saturating_sub(self.cpu) }
    }
}

fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

//! Heavy work: what takes milliseconds of a core is done away from the workers, a little at a time, so that health checks
//! and small batches are answered meanwhile.

use tokio::sync::Semaphore;

use super::problem::Problem;

/// Runs heavy work on threads of its own, so many at a time; the rest waits in line.
#[derive(Debug)]
pub(super) struct Heavy(Semaphore);

// === impl Heavy ===

impl Heavy {
    /// Half of the cores, at least one.
    pub(super) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(Semaphore::new((cores / 2).max(1)))
    }

    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        let _turn = self.0.acquire().await.map_err(|error| Problem::internal(&error))?;
        tokio::task::spawn_blocking(work).await.map_err(|error| Problem::internal(&error))
    }
}

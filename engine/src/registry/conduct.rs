//! ToolRegistry: middleware, and the clock of limits.

use std::sync::Arc;
use std::time::SystemTime;

use super::ToolRegistry;
use crate::middleware::Middleware;

// === impl ToolRegistry ===

impl ToolRegistry {
    /// Adds a middleware, innermost: the first one added is outermost. Calls that start from now on pass through it.
    pub fn add_middleware(&self, middleware: Arc<dyn Middleware>) {
        self.engine.middleware.add(&middleware);
    }

    /// Puts this middleware, from outermost, in the place of all there is. Calls that have started go on through what was
    /// there.
    pub fn set_middleware(&self, middleware: Vec<Arc<dyn Middleware>>) {
        self.engine.middleware.set(middleware);
    }

    /// Puts another clock in the place of the system's, for the days of quotas ([`crate::UsageLimit::quota`]). It is asked
    /// once for each batch, and must be quick.
    pub fn set_wall_clock(&self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) {
        self.engine.usage.set_wall_clock(Box::new(clock));
    }
}

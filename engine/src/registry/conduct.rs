//! ToolRegistry: limits on how often, as far as they are no policy.

use std::time::SystemTime;

use super::ToolRegistry;

// === impl ToolRegistry ===

impl ToolRegistry {
    /// Puts another clock in the place of the system's, for the days of quotas ([`crate::UsageLimit::quota`]). It is asked
    /// once for each batch, and must be quick.
    pub fn set_wall_clock(&self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) {
        self.engine.usage.set_wall_clock(Box::new(clock));
    }
}

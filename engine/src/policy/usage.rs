//! How often tools may be called (seed 004's limits, for any plugin).

use std::sync::Arc;
use std::time::Duration;

use super::ToolNames;

/// How often tools may be called. Every call counts, whoever acts: the model, a scheduler, or a person at a screen.
///
/// All limits that concern a call are looked at together: a call that one of them refuses is charged to none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageLimit {
    /// Its name, unique in its policy. What was used goes on counting under a later policy that has a limit of this name.
    pub name: Arc<str>,
    /// Whose calls are counted together.
    pub per: UsagePer,
    /// The tools whose calls are counted.
    pub tools: ToolNames,
    /// Calls in any stretch of time of this length.
    pub rate: Option<UsageRate>,
    /// Calls in one day, by UTC.
    pub quota: Option<u32>,
}

/// What tells calls apart: each tenant, user, tool or provider, or any of these together, has a count of its own. The
/// default counts all calls together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "any of them together")]
pub struct UsagePer {
    /// Each tenant.
    pub tenant: bool,
    /// Each user of a tenant.
    pub user: bool,
    /// Each tool.
    pub tool: bool,
    /// Each provider, such as a plugin.
    pub provider: bool,
}

/// So many calls within a window that slides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageRate {
    /// How many calls. 0 lets none pass.
    pub calls: u32,
    /// The length of the window. Times shorter than a millisecond count as one.
    pub window: Duration,
}

// === impl UsageLimit ===

impl UsageLimit {
    /// A limit that limits nothing yet.
    pub fn new(name: impl Into<Arc<str>>, per: UsagePer, tools: ToolNames) -> Self {
        Self { name: name.into(), per, tools, rate: None, quota: None }
    }

    /// The same limit with this rate.
    #[must_use]
    pub fn with_rate(mut self, calls: u32, window: Duration) -> Self {
        self.rate = Some(UsageRate { calls, window });
        self
    }

    /// The same limit with this many calls a day.
    #[must_use]
    pub fn with_quota(mut self, calls: u32) -> Self {
        self.quota = Some(calls);
        self
    }
}

//! Gate: no limit on how often is used up.

use tokio::time::Instant;

use super::{Caller, Gate, Refusal};
use crate::call::ToolExecutionContext;
use crate::policy::Policy;
use crate::registry::PreparedTool;
use crate::text;
use crate::usage::{BatchKeys, Charge, OverLimit, Spent, Usage};

/// What calls that pass are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charging {
    /// What they use.
    Used,
    /// Nothing: they are looked at and do not run.
    Nothing,
    /// Nothing, and nothing is used up for them: what they ask for may be there already.
    Ignored,
}

/// Charges the calls of one batch.
pub(crate) struct UsageGate<'a> {
    usage: &'a Usage,
    charging: Charging,
    started: Instant,
    now: Option<Spent>,
    keys: BatchKeys,
    /// Kept from call to call, for its room.
    charges: Vec<Charge>,
}

// === impl UsageGate ===

impl<'a> UsageGate<'a> {
    pub(crate) fn new(usage: &'a Usage, charging: Charging, started: Instant) -> Self {
        Self { usage, charging, started, now: None, keys: BatchKeys::default(), charges: Vec::new() }
    }

    /// The last gate: whatever it lets pass is charged, and nothing else.
    #[inline]
    pub(crate) fn check(&mut self, tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
        if caller.policy.usage.is_empty() || self.charging == Charging::Ignored {
            return Ok(());
        }
        let now = *self.now.get_or_insert_with(|| self.usage.at(self.started));
        self.usage.charges(&mut self.keys, caller.policy, tool, &caller.context, &mut self.charges);
        let over = match self.charging {
            Charging::Used => self.usage.spend(&self.charges, now).err(),
            Charging::Nothing => self.usage.peek(&self.charges, now),
            Charging::Ignored => None,
        };
        over.map_or(Ok(()), |over| Err(refusal(tool, caller, over)))
    }
}

/// Takes back what a call was charged that found no place to run after all.
pub(crate) fn take_back(
    usage: &Usage,
    policy: &Policy,
    tool: &PreparedTool,
    context: &ToolExecutionContext,
    started: Instant,
) {
    if policy.usage.is_empty() {
        return;
    }
    let mut charges = Vec::new();
    usage.charges(&mut BatchKeys::default(), policy, tool, context, &mut charges);
    usage.take_back(&charges, usage.at(started));
}

fn refusal(tool: &PreparedTool, caller: &Caller<'_>, over: OverLimit) -> Refusal {
    let limit = caller.policy.usage.get(over.limit);
    Gate::Usage.refuse(text::over_limit(caller.context.locale, &tool.spec.name, limit, over))
}

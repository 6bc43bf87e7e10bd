//! UsageKey: whose calls are counted together.

use std::hash::{BuildHasher, Hash, Hasher};

use ahash::RandomState;

use crate::call::ToolExecutionContext;
use crate::policy::UsageLimit;
use crate::registry::PreparedTool;

/// A count's own name: 128 bits of a keyed hash of the limit's name and the parts that tell calls apart. Keys of the same
/// bits are as likely as a guess of 128 random bits, and nothing of a caller is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UsageKey(pub(super) u128);

/// One limit that concerns a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    pub(crate) key: UsageKey,
    /// Place of the limit in the policy.
    pub(crate) limit: usize,
    pub(crate) rate: Option<crate::policy::UsageRate>,
    pub(crate) quota: Option<u32>,
}

/// Makes keys. Its seeds are made anew in each process.
#[derive(Debug)]
pub(super) struct Keys([RandomState; 2]);

// === impl Keys ===

impl Keys {
    pub(super) fn new() -> Self {
        Self([RandomState::new(), RandomState::new()])
    }

    pub(super) fn key(&self, limit: &UsageLimit, tool: &PreparedTool, context: &ToolExecutionContext) -> UsageKey {
        let [high, low] = self.0.each_ref().map(|state| {
            let mut hasher = state.build_hasher();
            limit.name.hash(&mut hasher);
            let part = |wanted: bool, text: &str, hasher: &mut ahash::AHasher| wanted.then_some(text).hash(hasher);
            // A user's id is one only within its tenant.
            part(limit.per.tenant || limit.per.user, &context.tenant, &mut hasher);
            part(limit.per.user, &context.user_id, &mut hasher);
            part(limit.per.tool, tool.origin.tool_id.as_str(), &mut hasher);
            part(limit.per.provider, &tool.handle.name, &mut hasher);
            u128::from(hasher.finish())
        });
        UsageKey(high << 64 | low)
    }
}

//! UsageKey: whose calls are counted together.

use std::hash::Hash;
use std::sync::LazyLock;

use ahash::RandomState;

use crate::call::ToolExecutionContext;
use crate::policy::UsageLimit;
use crate::result::ToolOrigin;

/// A count's own name: 128 bits of keyed hashes of the limit's name and the parts that tell calls apart. Keys of the same
/// bits are as likely as a guess of 128 random bits, and nothing of a caller is kept.
///
/// Each part is hashed by itself, where it is known first, and the hashes are combined by exclusive or: what a batch has in
/// common is hashed once for the batch, and a tool once when it is listed.
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

/// What a tool adds to a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolKeys {
    tool: u128,
    provider: u128,
}

/// What the calls of one batch have in common, for each limit; made when the first of them is charged.
#[derive(Debug, Default)]
pub(crate) struct BatchKeys(Vec<Option<u128>>);

/// Two hashes with seeds of their own, made anew in each process.
static SEEDS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);

/// Told apart, so that no text of one part hashes like that of another.
#[derive(Clone, Copy, Hash)]
enum Part {
    Caller,
    Tool,
    Provider,
}

// === impl ToolKeys ===

impl ToolKeys {
    pub(crate) fn of(origin: &ToolOrigin) -> Self {
        Self { tool: hash((Part::Tool, origin.tool_id.as_str())), provider: hash((Part::Provider, &*origin.provider)) }
    }
}

// === impl BatchKeys ===

impl BatchKeys {
    /// The key of a call, by a limit and its place in the policy.
    pub(super) fn key(
        &mut self,
        place: usize,
        limit: &UsageLimit,
        tool: ToolKeys,
        context: &ToolExecutionContext,
    ) -> UsageKey {
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        let per = limit.per;
        let of_caller = || {
            // A user's id is one only within its tenant.
            let tenant = (per.tenant || per.user).then_some(context.tenant.as_str());
            hash((Part::Caller, &*limit.name, tenant, per.user.then_some(context.user_id.as_str())))
        };
        let caller = match self.0.get_mut(place) {
            Some(caller) => *caller.get_or_insert_with(of_caller),
            None => of_caller(),
        };
        let tool_part = if per.tool { tool.tool } else { 0 };
        let provider_part = if per.provider { tool.provider } else { 0 };
        UsageKey(caller ^ tool_part ^ provider_part)
    }
}

fn hash(part: impl Hash) -> u128 {
    let [high, low] = SEEDS.each_ref().map(|seed| u128::from(seed.hash_one(&part)));
    high << 64 | low
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::policy::{ToolNames, UsagePer};
    use crate::tool::ToolId;

    fn keys_of(per: UsagePer) -> usize {
        let (mut keys, mut contexts) = (HashSet::new(), Vec::new());
        for (tenant, user) in [("t", "u"), ("t", "v"), ("v", "u"), ("", "")] {
            let (tenant, user_id) = (tenant.to_owned(), user.to_owned());
            contexts.push(ToolExecutionContext { tenant, user_id, ..ToolExecutionContext::default() });
        }
        for (place, name) in ["a", "b"].into_iter().enumerate() {
            let limit = UsageLimit::new(name, per, ToolNames::all());
            for context in &contexts {
                let mut batch = BatchKeys::default();
                for (provider, tool) in [("p", "x"), ("p", "y"), ("q", "x")] {
                    let origin = ToolOrigin { tool_id: ToolId::new(provider, tool), provider: provider.into() };
                    let key = batch.key(place, &limit, ToolKeys::of(&origin), context);
                    assert_eq!(key, BatchKeys::default().key(place + 7, &limit, ToolKeys::of(&origin), context));
                    keys.insert(key);
                }
            }
        }
        keys.len()
    }

    #[test]
    fn a_key_tells_apart_what_its_limit_tells_apart_and_nothing_else() {
        let none = UsagePer::default();
        assert_eq!(keys_of(none), 2);
        assert_eq!(keys_of(UsagePer { tenant: true, ..none }), 2 * 3);
        assert_eq!(keys_of(UsagePer { user: true, ..none }), 2 * 4);
        assert_eq!(keys_of(UsagePer { tool: true, ..none }), 2 * 3);
        assert_eq!(keys_of(UsagePer { provider: true, ..none }), 2 * 2);
        assert_eq!(keys_of(UsagePer { user: true, tool: true, provider: true, ..none }), 2 * 4 * 3);
    }
}

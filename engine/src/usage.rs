//! Usage: how much of their limits callers have used. Counts only; which limits there are is policy.
//!
//! All limits that concern a call are looked at and charged under the locks of their shards, taken in one order, so that
//! what is used never exceeds a limit and a refusal is charged to none.

mod count;
mod key;
mod table;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use key::{BatchKeys, Charge, ToolKeys, UsageKey};
pub(crate) use table::{Spent, Usage};

/// What a limit refuses, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverLimit {
    pub(crate) kind: LimitKind,
    /// Place of the limit in the policy.
    pub(crate) limit: usize,
    pub(crate) retry_after: std::time::Duration,
}

/// Which part of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitKind {
    Rate,
    Quota,
}

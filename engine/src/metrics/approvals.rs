//! Metrics of approvals.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};

use crate::approval::ApprovalState;

const PENDING: &str = "toolyard_approvals_pending";
const OLDEST: &str = "toolyard_approvals_oldest_seconds";
const DECISIONS_TOTAL: &str = "toolyard_approval_decisions_total";

pub(super) fn describe() {
    describe_gauge!(PENDING, Unit::Count, "Approvals that nobody has decided.");
    describe_gauge!(OLDEST, Unit::Seconds, "How long the oldest of them has waited; 0 when there is none.");
    describe_counter!(DECISIONS_TOTAL, Unit::Count, "Approvals by what was decided, or why nothing was.");
}

/// How many are pending, and how long the oldest has been.
pub(crate) fn publish_approvals((pending, oldest): (usize, Duration)) {
    gauge!(PENDING).set(pending as f64);
    gauge!(OLDEST).set(oldest.as_secs_f64());
}

/// Counts a decision: approved, denied, expired or withdrawn.
pub(crate) fn record_decision(state: ApprovalState) {
    counter!(DECISIONS_TOTAL, "outcome" => state.as_str()).increment(1);
}
